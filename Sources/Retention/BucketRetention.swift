import MediaTypes
import Recording
import Upload

/// Finds and removes the objects of ended rooms in a bucket.
///
/// A room is the objects that have everything up to the last slash of their names in common. It has ended if each of its media playlists
/// has `EXT-X-ENDLIST`: an uploader sends those last, so nothing of the room is missing in the bucket then. Buckets have no lock, so the
/// objects are listed again before they are removed, and nothing is removed from a place that has a newer object than the rule allows.
package struct BucketRetention: Sendable {
    let bucket: any RetainedBucket
    private let prefix: String
    let rule: RetentionRule

    /// Media objects that are deleted between two checks of the playlists.
    private static let batch = 100

    /// - Parameter prefix: Of the names that are looked at; nothing else in the bucket is touched. A place whose name does not begin with it
    ///   is not looked at, even if it has such objects: they could be a part of a room.
    package init(_ bucket: any RetainedBucket, prefix: String, rule: RetentionRule) {
        self.bucket = bucket
        self.prefix = prefix
        self.rule = rule
    }

    // MARK: Finding

    /// Looks at every room in the bucket, in the order in which the list completes them. Changes nothing. In memory are a page of the list
    /// and the names of the playlists of one room, and of the places around it.
    ///
    /// - Parameter body: Called for each room; the list goes on afterwards. Objects without a worker's multivariant playlist are no room.
    /// - Throws: ``MediaTypes/MediaError/Code/unavailable`` if the bucket cannot be listed, and errors of `body`. A room whose objects cannot
    ///   be read is a ``Finding/Verdict/skip(_:)``.
    package func find(_ body: (Finding) async throws -> Void) async throws {
        var open: [(place: String, listed: BucketRoom.Listed)] = []
        var listing = ObjectListing(self.bucket, prefix: self.prefix)
        while let objects = try await listing.next() {
            for object in objects {
                let (place, name) = Self.split(object.key)
                while let last = open.last, !place.utf8.starts(with: last.place.utf8) {
                    open.removeLast()
                    try await self.report(last, body)
                }
                guard place.utf8.starts(with: self.prefix.utf8) else { continue }
                if open.last?.place != place { open.append((place, BucketRoom.Listed())) }
                open[open.count - 1].listed.add(name)
            }
        }
        while let last = open.popLast() { try await self.report(last, body) }
    }

    private func report(
        _ group: (place: String, listed: BucketRoom.Listed), _ body: (Finding) async throws -> Void
    ) async throws {
        guard !group.listed.playlists.isEmpty || group.listed.hasTooMany else { return }
        if let look = await self.look(group.place, group.listed) { try await body(look.finding) }
    }

    // MARK: Removing

    private static let changed = "it has changed meanwhile; the next run looks again"

    /// Removes what ``find(_:)`` has found, if nothing has changed since then: media first, then the media playlists, the multivariant
    /// playlist last. However this is interrupted, the next run finds the room again as an ended one, or not at all.
    ///
    /// The playlists are checked before each hundred media objects, and before each playlist. Everything is listed again before the first
    /// playlist: the removal ends at an object that was stored later than the rule allows.
    ///
    /// - Parameter isAllowed: Called before each removal with the name of the object; false ends the work there, as a kill would.
    package func remove(
        _ finding: Finding, isAllowed: @Sendable (String) -> Bool = { _ in true }
    ) async -> DirectoryRetention.Removal {
        var removal = DirectoryRetention.Removal()
        let place = finding.path == "." ? "" : finding.path
        do throws(MediaError) {
            guard place.utf8.starts(with: self.prefix.utf8),
                case .room(let room)? = await self.look(place, try await self.listed(place)),
                room.finding.isRemovable, room.finding == finding, let age = self.age(room.isRecording)
            else {
                removal.problem = Self.changed
                return removal
            }
            let newest = self.rule.newest(after: age)
            let media = try await self.removeMedia(place, room, newest: newest, &removal, isAllowed)
            guard media, let playlists = try await self.playlists(place, room, newest: newest, &removal) else {
                return removal
            }
            for (index, name) in playlists.enumerated() {
                guard try await self.areOld(playlists[index...], place, newest: newest) else {
                    removal.problem = Self.changed
                    return removal
                }
                guard try await self.remove(name, place, &removal, isAllowed) else { return removal }
            }
        } catch {
            removal.problem = error.description
        }
        return removal
    }

    /// The names that say what a place is.
    private func listed(_ place: String) async throws(MediaError) -> BucketRoom.Listed {
        var listed = BucketRoom.Listed()
        var listing = ObjectListing(self.bucket, prefix: place)
        while let objects = try await listing.next() {
            for object in objects {
                let (own, name) = Self.split(object.key)
                if own == place { listed.add(name) }
            }
        }
        return listed
    }

    /// - Returns: Whether all media is removed.
    private func removeMedia(
        _ place: String, _ room: BucketRoom, newest: Int64, _ removal: inout DirectoryRetention.Removal,
        _ isAllowed: @Sendable (String) -> Bool
    ) async throws(MediaError) -> Bool {
        var listing = ObjectListing(self.bucket, prefix: place)
        var count = 0
        while let objects = try await listing.next() {
            for object in objects {
                let (own, name) = Self.split(object.key)
                guard own == place else { continue }
                guard object.modified <= newest else {
                    removal.problem = Self.written(name)
                    return false
                }
                guard Self.isPlain(name), let kind = room.names.kind(of: name), kind != .playlist,
                    !room.isRecognized(by: name)
                else { continue }
                // A room that goes on stores its playlists every few seconds.
                if count.isMultiple(of: Self.batch),
                    !(try await self.areOld(room.playlists[...], place, newest: newest))
                {
                    removal.problem = Self.changed
                    return false
                }
                count += 1
                guard try await self.remove(name, place, &removal, isAllowed) else { return false }
            }
        }
        return true
    }

    /// Lists the place again.
    ///
    /// - Returns: The objects that are left of the room, in the order of their removal; `nil` if it is in use again.
    private func playlists(
        _ place: String, _ room: BucketRoom, newest: Int64, _ removal: inout DirectoryRetention.Removal
    ) async throws(MediaError) -> [String]? {
        var playlists: [String] = []
        var last: [String] = []
        var listing = ObjectListing(self.bucket, prefix: place)
        while let objects = try await listing.next() {
            for object in objects {
                let (own, name) = Self.split(object.key)
                guard own == place else { continue }
                guard object.modified <= newest else {
                    removal.problem = Self.written(name)
                    return nil
                }
                guard Self.isPlain(name), let kind = room.names.kind(of: name) else { continue }
                if room.isRecognized(by: name) {
                    last.append(name)
                } else if kind == .playlist, playlists.count < BucketRoom.Listed.mostPlaylists {
                    playlists.append(name)
                } else {
                    removal.problem = Self.changed
                    return nil
                }
            }
        }
        return playlists + last.filter { $0 != room.multivariant } + last.filter { $0 == room.multivariant }
    }

    private static func written(_ name: String) -> String {
        "\(name) has been stored meanwhile; the next run looks again"
    }

    /// Whether objects exist and were stored at this time or before it.
    private func areOld(_ names: ArraySlice<String>, _ place: String, newest: Int64) async throws(MediaError) -> Bool {
        for name in names {
            let key = place + name
            // The first name with a prefix is the prefix itself.
            let page = try await self.bucket.page(prefix: key, after: nil)
            guard page.objects.contains(where: { $0.key == key && $0.modified <= newest }) else { return false }
        }
        return true
    }

    /// - Returns: Whether it is removed.
    private func remove(
        _ name: String, _ place: String, _ removal: inout DirectoryRetention.Removal,
        _ isAllowed: @Sendable (String) -> Bool
    ) async throws(MediaError) -> Bool {
        guard isAllowed(name) else {
            removal.problem = "stopped"
            return false
        }
        try await self.bucket.delete(name, prefix: place)
        removal.files += 1
        return true
    }
}

extension BucketRoom {
    /// Whether an object is one by which the room is recognized, or a recording as one.
    func isRecognized(by name: String) -> Bool { name == self.multivariant || name == RecordedNames.manifest }
}
