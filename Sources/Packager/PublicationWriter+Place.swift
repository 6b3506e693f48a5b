import HLS
import MediaTypes

/// Recovery when the directory is moved away, emptied or mounted over during the run.
extension PublicationWriter {
    /// Maximum number of bytes to copy from the old directory, because players wait meanwhile. Hard links do not count.
    private static let mostCopied = 256 << 20

    /// Whether the output directory was replaced: its path leads to another directory, or files that were written are
    /// missing.
    private var isPlaceLost: Bool {
        // Some network file systems report a new inode number for a directory on each request; so the state file is
        // compared as well.
        if let place = self.place, !place.isCurrent, self.store.read(StateFile.name) != self.writtenState {
            return true
        }
        return !self.writtenState.isEmpty && !self.store.contains(StateFile.name)
            || !self.writtenMultivariant.isEmpty && !self.store.contains(self.publication.settings.multivariantName)
    }

    /// Recreates the output directory if it was replaced. Missing files are restored from the old directory if it can
    /// still be read. Lost segments become gaps; they keep their names.
    mutating func restorePlace() -> Result {
        guard self.isPlaceLost else { return .done }
        let lost: Int
        do {
            try self.store.prepare()
            if let keys = self.publication.tracks.first?.keys, !self.store.contains(SegmentKeys.fileName) {
                try self.store.keep(secret: SegmentKeys.fileName, Array(keys.json.utf8))
            }
            try self.restoreMaps()
            lost = self.restoreObjects()
        } catch {
            self.events.append(.outputFailed(error))
            return .done
        }
        self.writtenMultivariant = []
        self.wholeWindow = WholeWindowFiles()
        let result = self.publication.hasSegments ? self.publish() : self.writeState()
        guard result == .done else { return result == .superseded ? .superseded : .done }
        // The recovery is complete only once these files exist; otherwise another attempt follows.
        guard self.store.contains(StateFile.name),
            !self.publication.hasSegments || !self.isShown
                || self.store.contains(self.publication.settings.multivariantName)
        else { return .done }
        self.place = self.store.hold()
        self.events.append(
            .placeRestored(path: self.publication.settings.directory, lostSegments: lost))
        return .done
    }

    private mutating func restoreMaps() throws(MediaError) {
        for (index, track) in self.publication.tracks.enumerated() {
            for map in track.maps where !self.store.contains(map.uri) {
                if map == track.map {
                    guard track.isInitializationWritten else { continue }
                    try self.store.put(map.uri, bytes: track.initialization)
                } else if case .bytes(let bytes) = self.objects[map.uri]?.body {
                    try self.store.put(map.uri, bytes: bytes)
                }
            }
            self.publication.tracks[index].isInitializationWritten = self.store.contains(track.map.uri)
        }
        for map in self.publication.archive?.maps ?? [] where !self.store.contains(map.uri) {
            if case .bytes(let bytes) = self.objects[map.uri]?.body { try self.store.put(map.uri, bytes: bytes) }
        }
    }

    /// Restores missing files from the old directory, and turns segments that cannot be restored into gaps.
    ///
    /// - Returns: Number of listed segments that are lost.
    private mutating func restoreObjects() -> Int {
        var rest = Self.mostCopied
        // Newest segments first, because players request those.
        let numbers = self.publication.tracks.map { track in
            track.window.segments.reversed().filter { !$0.gap }.map(\.uri)
        }
        let longest = numbers.map(\.count).max() ?? 0
        let live = (0..<longest).flatMap { index in numbers.compactMap { $0.count > index ? $0[index] : nil } }
        let listed = live + (self.publication.archive?.listedFiles ?? [])
        let names = self.place?.names ?? []
        let others = names.filter { !$0.hasSuffix(".tmp") && !$0.hasSuffix(".m3u8") && $0 != LiveEdgeMark.name }
        for name in listed + others where !self.store.contains(name) {
            rest -= self.place?.restore(name, limit: rest) ?? 0
        }
        let lost = Set(listed.filter { !self.store.contains($0) })
        self.publication.lose(lost)
        for name in lost { self.objects[name] = nil }
        return lost.count
    }
}
