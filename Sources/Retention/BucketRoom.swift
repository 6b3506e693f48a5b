import MediaTypes
import Packager
import Recording
import Upload

/// A room in a bucket: its objects have everything up to the last slash of their names, the place, in common.
struct BucketRoom: Sendable {
    /// Names of the objects in a place that show whether it is a room, without the place.
    struct Listed: Sendable {
        /// Highest number of playlists of one room. A place with more is skipped.
        static let mostPlaylists = 1_024
        /// Highest number of indexes of thumbnail sheets of one room. A place with more is skipped.
        static let mostIndexes = 32

        var playlists: Set<String> = []
        var indexes: Set<String> = []
        var hasManifest = false
        /// Whether there were too many playlists or indexes.
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

    /// The decision about the room, by the objects that existed when it was made.
    var finding: Finding
    let names: WorkerNames
    let multivariant: String
    /// Names of the room's playlists, including the multivariant one.
    let playlists: [String]
    /// Whether the age of recordings applies: there is a recording manifest, or a playlist with `EXT-X-PLAYLIST-TYPE`.
    let isRecording: Bool
}

extension BucketRetention {
    /// Splits an object's full name after the last slash into the place and the name in the place.
    static func split(_ key: String) -> (place: String, name: String) {
        guard let slash = key.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", key) }
        let start = key.utf8.index(after: slash)
        return (String(key[..<start]), String(key[start...]))
    }

    /// Whether an object's name has a form that uploaders use. Objects with other names belong to other programs.
    static func isPlain(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count) && !name.hasPrefix(".") && name.isPlain(marks: "._-")
    }

    /// Reads the playlists of a place and counts its objects.
    ///
    /// - Returns: `nil` if the objects are not those of a room.
    func scan(_ place: String, _ listed: BucketRoom.Listed) async -> BucketScan? {
        guard !listed.hasTooMany else {
            return .unknown(
                self.skip(place, "more than \(BucketRoom.Listed.mostPlaylists) playlists or too many .vtt files"))
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
                .keep("\(gone) is listed but does not exist: the room may be changing")
            } else if rooms.count > 1 {
                .keep(
                    "it has the multivariant playlists of several rooms: \(rooms.map(\.name).joined(separator: ", "))")
            } else if isOpen {
                .keep("the playlists have not ended")
            } else if let missing, hasMedia {
                // An interrupted run cannot be the cause: it removes all media before the first playlist.
                .keep("\(missing) is missing, but the room still has media")
            } else if isRecording, self.rule.recordingsAfter == nil {
                .keep("recordings are kept unless --recordings-older-than is given")
            } else {
                .byAge(finding.modified, after: self.age(isRecording) ?? 0, self.rule)
            }
        return BucketRoom(
            finding: finding, names: names, multivariant: room.name, playlists: found.sorted() + [room.name],
            isRecording: isRecording)
    }

    /// How old a room's newest object must be for its removal, in seconds; `nil` if recordings are kept at any age.
    func age(_ isRecording: Bool) -> Int64? { isRecording ? self.rule.recordingsAfter : self.rule.after }

    /// Counts the objects of a place into `finding`. Its age is that of the newest object, even if another program
    /// stored it.
    ///
    /// - Returns: Names of the media playlists, and whether there is media.
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

/// The result of a check of a place in a bucket.
enum BucketScan: Sendable {
    case room(BucketRoom)
    /// The place could not be checked; the finding contains the reason.
    case unknown(Finding)

    var finding: Finding {
        switch self {
        case .room(let room): room.finding
        case .unknown(let finding): finding
        }
    }
}
