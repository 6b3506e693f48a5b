import MediaTypes
import Packager
import Recording
import Upload

/// The objects of a room that have everything up to the last slash of their names in common, and what they say about it.
struct BucketRoom: Sendable {
    /// Names of objects without the place, as the list had them.
    struct Listed: Sendable {
        /// Playlists of one room; more are an error.
        static let mostPlaylists = 1_024
        /// Indexes of thumbnail sheets.
        static let mostIndexes = 32

        var playlists: Set<String> = []
        var indexes: Set<String> = []
        var hasManifest = false
        var hasTooMany = false

        mutating func add(_ name: String) {
            if name.hasSuffix(".m3u8") {
                self.playlists.insert(name)
            } else if name.hasSuffix(WorkerNames.index) {
                self.indexes.insert(name)
            } else if name == RecordedNames.manifest {
                self.hasManifest = true
            }
            guard self.playlists.count > Self.mostPlaylists || self.indexes.count > Self.mostIndexes else { return }
            self.hasTooMany = true
            self.playlists = []
            self.indexes = []
        }
    }

    /// What is to be done, in terms of the list at the time of the look.
    var finding: Finding
    let names: WorkerNames
    let multivariant: String
    /// Names of its playlists, with the multivariant one.
    let playlists: [String]
    /// Whether it is a recording, or has playlists of everything from the beginning.
    let isRecording: Bool
}

extension BucketRetention {
    /// Name of an object in its place, and the place: everything up to the last slash.
    static func split(_ key: String) -> (place: String, name: String) {
        guard let slash = key.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", key) }
        let start = key.utf8.index(after: slash)
        return (String(key[..<start]), String(key[start...]))
    }

    /// Whether an object's name is one that uploaders use: everything else belongs to somebody else.
    static func isPlain(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count) && !name.hasPrefix(".") && name.isPlain(marks: "._-")
    }

    /// Reads the playlists of a place, and counts its objects.
    ///
    /// - Returns: `nil` if they are no room.
    func look(_ place: String, _ listed: BucketRoom.Listed) async -> BucketLook? {
        guard !listed.hasTooMany else {
            return .unknown(self.skip(place, "more than \(BucketRoom.Listed.mostPlaylists) playlists"))
        }
        do throws(MediaError) {
            return try await self.room(place, listed).map { .room($0) }
        } catch {
            return .unknown(self.skip(place, "it cannot be read: \(error.what)"))
        }
    }

    private func skip(_ place: String, _ reason: String) -> Finding {
        Finding(.bucket, path: Self.path(place), verdict: .skip(reason))
    }

    static func path(_ place: String) -> String { place.isEmpty ? "." : place }

    private func room(_ place: String, _ listed: BucketRoom.Listed) async throws(MediaError) -> BucketRoom? {
        var rooms: [(id: String, name: String, tracks: Set<String>)] = []
        var (isOpen, isRecording) = (false, listed.hasManifest)
        var gone: String?
        for name in listed.playlists.sorted() {
            guard let bytes = try await self.bucket.read(name, prefix: place) else {
                gone = name
                continue
            }
            switch RoomPlaylist(bytes) {
            case .multivariant(let id, let tracks)?: rooms.append((id, name, tracks))
            case .media(let hasEnded, let type)?:
                isOpen = isOpen || !hasEnded
                isRecording = isRecording || type != nil
            case nil: isOpen = true
            }
        }
        guard let room = rooms.first else { return nil }
        var sheets: Set<String> = []
        for name in listed.indexes {
            let stem = String(name.dropLast(WorkerNames.index.count))
            if let bytes = try await self.bucket.read(name, prefix: place), WorkerNames.isIndex(of: stem, bytes) {
                sheets.insert(stem)
            }
        }
        var manifest: RecordingManifest?
        if listed.hasManifest {
            manifest = try await self.bucket.read(RecordedNames.manifest, prefix: place)
                .flatMap { RecordingManifest(json: $0) }
        }
        let names = WorkerNames.bucket(
            tracks: room.tracks, sheets: sheets, manifest: manifest,
            others: [room.name] + (manifest == nil ? [] : [RecordedNames.manifest]))
        var finding = Finding(.bucket, path: Self.path(place), room: room.id, verdict: .remove)
        let (found, hasMedia) = try await self.count(place, names, &finding)
        let missing = room.tracks.sorted().map { TrackFiles.playlist(of: $0) }.first { !found.contains($0) }
        finding.verdict =
            if let gone {
                .keep("\(gone) is listed and cannot be read: the room may be changing")
            } else if rooms.count > 1 {
                .keep(
                    "it has the multivariant playlists of several rooms: \(rooms.map(\.name).joined(separator: ", "))")
            } else if isOpen {
                .keep("the playlists have not ended")
            } else if let missing, hasMedia {
                // A run that was interrupted has removed all media before the first playlist.
                .keep("\(missing) is missing, and its media is there")
            } else if isRecording, self.rule.recordingsAfter == nil {
                .keep("recordings are kept unless --recordings-older-than is given")
            } else {
                .byAge(finding.modified, after: self.age(isRecording) ?? 0, self.rule)
            }
        return BucketRoom(
            finding: finding, names: names, multivariant: room.name, playlists: found.sorted() + [room.name],
            isRecording: isRecording)
    }

    /// How old the newest object must be, in seconds; `nil`: it stays at any age.
    func age(_ isRecording: Bool) -> Int64? { isRecording ? self.rule.recordingsAfter : self.rule.after }

    /// Counts the objects of a place. The newest object counts, also one of another room.
    ///
    /// - Returns: Names of the playlists, and whether there is media.
    private func count(
        _ place: String, _ names: WorkerNames, _ finding: inout Finding
    ) async throws(MediaError) -> (playlists: Set<String>, hasMedia: Bool) {
        var playlists: Set<String> = []
        var hasMedia = false
        var listing = ObjectListing(self.bucket, prefix: place)
        while let objects = try await listing.next() {
            for object in objects {
                let (own, name) = Self.split(object.key)
                guard own == place else { continue }
                finding.modified = max(finding.modified, object.modified)
                guard Self.isPlain(name), let kind = names.kind(of: name) else {
                    finding.others += 1
                    continue
                }
                finding.files += 1
                finding.bytes = FolderFacts.sum(finding.bytes, object.bytes)
                if kind == .media { hasMedia = true }
                if kind == .playlist { playlists.insert(name) }
            }
        }
        return (playlists, hasMedia)
    }
}

/// The result of a look at a place in a bucket.
enum BucketLook: Sendable {
    case room(BucketRoom)
    /// It could not be looked at.
    case unknown(Finding)

    var finding: Finding {
        switch self {
        case .room(let room): room.finding
        case .unknown(let finding): finding
        }
    }
}
