package import MediaTypes
package import Upload

/// What a retention run needs of a bucket.
package protocol RetainedBucket: Sendable {
    func list(prefix: String) async throws(MediaError) -> [StoredObject]
    /// - Returns: `nil` if the object does not exist.
    func read(_ name: String, prefix: String) async throws(MediaError) -> [UInt8]?
    func delete(_ name: String, prefix: String) async throws(MediaError)
}

extension BucketClient: RetainedBucket {}

/// Finds and removes the objects of ended rooms in a bucket.
///
/// A room is the objects that have everything up to the last slash of their names in common. It has ended if each of its media playlists
/// has `EXT-X-ENDLIST`: an uploader sends those last, so nothing of the room is missing in the bucket then.
package struct BucketRetention: Sendable {
    private let bucket: any RetainedBucket
    private let prefix: String
    private let rule: RetentionRule

    /// - Parameter prefix: Of the names that are looked at; nothing else in the bucket is touched.
    package init(_ bucket: any RetainedBucket, prefix: String, rule: RetentionRule) {
        self.bucket = bucket
        self.prefix = prefix
        self.rule = rule
    }

    /// The objects of one room.
    private struct Group: Sendable {
        var objects: [StoredObject] = []
        var foreign = 0

        var modified: Int64 { self.objects.map(\.modified).max() ?? 0 }
        var bytes: Int64 { self.objects.reduce(0) { $0 + $1.bytes } }
    }

    private static func split(_ key: String) -> (prefix: String, name: String) {
        guard let slash = key.lastIndex(of: "/") else { return ("", key) }
        return (String(key[...slash]), String(key[key.index(after: slash)...]))
    }

    /// Names that an uploader gives to objects.
    private static func isOurs(_ name: String) -> Bool {
        guard (1...128).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else { return false }
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f: true
            default: false
            }
        }
        return isPlain && [".m3u8", ".m4s", ".mp4", ".jpg", ".png", ".vtt"].contains { name.hasSuffix($0) }
    }

    private func groups(_ prefix: String) async throws(MediaError) -> [String: Group] {
        var groups: [String: Group] = [:]
        // A service that ignores the prefix must not lead beyond it.
        for object in try await self.bucket.list(prefix: prefix) where object.key.hasPrefix(self.prefix) {
            let (place, name) = Self.split(object.key)
            if Self.isOurs(name) {
                groups[place, default: Group()].objects.append(object)
            } else {
                groups[place, default: Group()].foreign += 1
            }
        }
        return groups
    }

    /// Looks at every room in the bucket. Changes nothing.
    ///
    /// - Returns: Ordered by path. Objects without a worker's multivariant playlist are no room.
    package func find() async throws(MediaError) -> [Finding] {
        var findings: [Finding] = []
        for (place, group) in try await self.groups(self.prefix).sorted(by: { $0.key < $1.key }) {
            if let (finding, _) = try await self.look(place, group) { findings.append(finding) }
        }
        return findings
    }

    /// - Returns: What is to be done, and the name of the multivariant playlist; `nil` if it is no room.
    private func look(_ place: String, _ group: Group) async throws(MediaError) -> (Finding, multivariant: String)? {
        var (room, multivariant): (String?, String?)
        var isOpen = false
        for object in group.objects where object.key.hasSuffix(".m3u8") {
            let name = Self.split(object.key).name
            guard let bytes = try await self.bucket.read(name, prefix: place) else { continue }
            switch RoomPlaylist(bytes) {
            case .multivariant(let id)?: (room, multivariant) = (id, name)
            case .media(let hasEnded)?: isOpen = isOpen || !hasEnded
            case nil: isOpen = true
            }
        }
        guard let multivariant else { return nil }
        let verdict: Finding.Verdict =
            isOpen ? .keep("the playlists have not ended") : .byAge(group.modified, after: self.rule.after, self.rule)
        let finding = Finding(
            .bucket, path: place.isEmpty ? "." : place, room: room, modified: group.modified,
            files: group.objects.count, bytes: group.bytes, others: group.foreign, verdict: verdict)
        return (finding, multivariant)
    }

    /// Removes what ``find()`` has found, if nothing has changed since then: media first, then the media playlists, the multivariant
    /// playlist last. However this is interrupted, the next run finds the room again as an ended one, or not at all.
    ///
    /// - Parameter isAllowed: Called before each removal with the name of the object; false ends the work there, as a kill would.
    package func remove(
        _ finding: Finding, isAllowed: @Sendable (String) -> Bool = { _ in true }
    ) async -> DirectoryRetention.Removal {
        var removal = DirectoryRetention.Removal()
        let place = finding.path == "." ? "" : finding.path
        do throws(MediaError) {
            let group = try await self.groups(place)[place] ?? Group()
            guard let (now, multivariant) = try await self.look(place, group), now.isRemovable, now == finding else {
                removal.problem = "it has changed meanwhile; the next run looks again"
                return removal
            }
            let names = group.objects.map { Self.split($0.key).name }
            let playlists = names.filter { $0.hasSuffix(".m3u8") && $0 != multivariant }
            for name in names.filter({ !$0.hasSuffix(".m3u8") }) + playlists + [multivariant] {
                guard isAllowed(name) else {
                    removal.problem = "stopped"
                    return removal
                }
                try await self.bucket.delete(name, prefix: place)
                removal.files += 1
            }
        } catch {
            removal.problem = error.description
        }
        return removal
    }
}
