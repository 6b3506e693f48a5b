import MediaTypes
import Recording
import Upload

/// Finds and removes the objects of ended rooms in a bucket.
///
/// The objects of a room have everything up to the last slash of their names in common; this prefix is called the
/// room's place. A room has ended if each of its media playlists has `EXT-X-ENDLIST`. Uploaders send these playlists
/// last, so the upload of the room is complete then. Buckets have no lock. Therefore the objects are listed again before
/// they are removed, and the removal ends when it finds an object of the place that is newer than the rule allows.
package struct BucketRetention: Sendable {
    let bucket: any RetainedBucket
    private let prefix: String
    let rule: RetentionRule

    /// Number of media objects that are deleted between two checks of the playlists.
    private static let batch = 100

    /// - Parameter prefix: Only rooms whose place (everything up to the last slash of their objects' names) begins with
    ///   this prefix are checked. If the prefix continues after that slash, it would select only some of a room's objects;
    ///   such a room is not checked.
    package init(_ bucket: any RetainedBucket, prefix: String, rule: RetentionRule) {
        self.bucket = bucket
        self.prefix = prefix
        self.rule = rule
    }

    // MARK: Finding

    /// Finds the rooms in the bucket and decides which of them can be removed. Changes nothing.
    ///
    /// A room is reported when the bucket's list has passed its last object. Memory use is bounded by one page of the
    /// list, and the names of the playlists of one room and of the places that contain it.
    ///
    /// - Parameter body: Called for each room, before the next page is listed. Objects without a multivariant playlist
    ///   that a worker wrote are not a room.
    /// - Throws: ``MediaTypes/MediaError/Code/unavailable`` if the bucket cannot be listed, and errors of `body`. If the
    ///   objects of a room cannot be read, the room has the verdict ``Finding/Verdict/skip(_:)`` instead.
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
        if let scan = await self.scan(group.place, group.listed) { try await body(scan.finding) }
    }

    // MARK: Removing

    private static let changed = "the room has changed since it was listed; the next run checks it again"

    /// Removes the objects of a room that ``find(_:)`` has found, if the room has not changed since then.
    ///
    /// Media is removed first, then the media playlists, the recording manifest, and the multivariant playlist last. If
    /// the removal is interrupted, the next run therefore finds an ended room again, or no room. The removal checks the
    /// playlists before each batch of 100 media objects and before each playlist, and lists all objects again before
    /// the first playlist. It ends if an object was stored later than the rule allows.
    ///
    /// - Parameter isAllowed: Called before each removal with the name of the object; returning false ends the removal.
    package func remove(
        _ finding: Finding, isAllowed: @Sendable (String) -> Bool = { _ in true }
    ) async -> DirectoryRetention.Removal {
        var removal = DirectoryRetention.Removal()
        let place = finding.path == "." ? "" : finding.path
        do throws(MediaError) {
            guard place.utf8.starts(with: self.prefix.utf8),
                case .room(let room)? = await self.scan(place, try await self.listed(place)),
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

    /// Lists the playlists, the indexes of thumbnail sheets and the recording manifest of a place.
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

    /// Removes all objects of a room except its playlists and its recording manifest.
    ///
    /// - Returns: False if the removal has ended early, for the reason in `removal`.
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
                // A room that is still running stores its playlists every few seconds.
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

    /// Lists the objects of a room again after its media was removed.
    ///
    /// - Returns: The names of the objects that are left, in the order of their removal; `nil` if the removal must end, for
    ///   the reason in `removal`.
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
        "\(name) was stored after the check; the next run checks again"
    }

    /// Whether all of these objects exist and were stored at `newest`, in Unix seconds, or earlier.
    private func areOld(_ names: ArraySlice<String>, _ place: String, newest: Int64) async throws(MediaError) -> Bool {
        for name in names {
            let key = place + name
            // The list is ordered, so an object whose name is the whole prefix is the first one.
            let page = try await self.bucket.page(prefix: key, after: nil)
            guard page.objects.contains(where: { $0.key == key && $0.modified <= newest }) else { return false }
        }
        return true
    }

    /// Removes an object.
    ///
    /// - Returns: False if `isAllowed` has refused the removal.
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
    /// Whether an object is the multivariant playlist or the recording manifest, by which a room or recording is
    /// recognized.
    func isRecognized(by name: String) -> Bool { name == self.multivariant || name == RecordedNames.manifest }
}
