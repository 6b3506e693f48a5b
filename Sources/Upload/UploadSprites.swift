/// A new version of a WebVTT thumbnail index, with the changes of the sheets that it refers to.
package struct SpriteUpdate: Sendable, Hashable {
    /// Name of the index file.
    package let index: String
    /// The WebVTT text of the index.
    package let text: [UInt8]
    /// Local directory of the sheets, where they may be rewritten at any time.
    package let directory: String
    /// Names of the sheets that are new or have changed since the previous update, oldest first; in the first update
    /// all sheets.
    package let changed: [String]
    /// Names of sheets that the index no longer refers to.
    package let gone: [String]
    /// Interval between two thumbnails in seconds; 1 or more.
    package let interval: Int

    package init(
        index: String, text: [UInt8], directory: String, changed: [String], gone: [String] = [], interval: Int
    ) {
        self.index = index
        self.text = text
        self.directory = directory
        self.changed = changed
        self.gone = gone
        self.interval = interval
    }
}

/// The upload state of a thumbnail index and its sheets. Sheets are sent one at a time, because media has priority.
struct UploadSprites: Sendable {
    var update: SpriteUpdate
    /// Names of the sheets that the store does not have in their newest version, oldest first; at most as many as an
    /// index refers to.
    var waiting: [String] = []
    /// Whether the first of ``waiting`` has changed since the request in flight for it was made.
    var isStale = false
    var lane = RetrySchedule()
    var document = PlaylistUpload()

    var isSettled: Bool { self.waiting.isEmpty && !self.document.isDue }

    mutating func take(_ update: SpriteUpdate) {
        self.update = update
        if !update.gone.isEmpty {
            let gone = Set(update.gone)
            self.waiting.removeAll { gone.contains($0) }
        }
        if self.waiting.isEmpty {
            self.waiting = update.changed
        } else {
            for sheet in update.changed {
                if self.lane.request != nil, self.waiting.first == sheet {
                    self.isStale = true
                } else if !self.waiting.contains(sheet) {
                    self.waiting.append(sheet)
                }
            }
        }
        self.document.change()
    }

    mutating func answered(sheet name: String, _ outcome: UploadOutcome, _ now: Int64, _ jitter: Int64) {
        self.lane.answered(outcome, now, jitter)
        defer { self.isStale = false }
        if case .failed = outcome { return }
        // A sheet that was removed meanwhile is no longer the first.
        guard self.waiting.first == name, !self.isStale || outcome == .absent else { return }
        self.waiting.removeFirst()
    }

    /// Time at which the next request is due; `nil` if there is nothing to send or a request is in flight.
    var due: Int64? {
        if !self.waiting.isEmpty { return self.lane.request == nil ? self.lane.due : nil }
        return self.document.isDue && self.document.lane.request == nil ? self.document.lane.due : nil
    }
}

extension UploadQueue {
    /// Maximum number of thumbnail indexes; further ones are ignored.
    private static let mostIndexes = 8

    /// Queues changed thumbnail sheets and then their index, so that the store gets an index only after those of its
    /// sheets that have a file. Only the newest versions are sent.
    package mutating func put(_ update: SpriteUpdate) {
        guard self.sprites[update.index] != nil || self.sprites.count < Self.mostIndexes else { return }
        self.sprites[update.index, default: UploadSprites(update: update)].take(update)
        if self.rules.deletes { self.deletions += update.gone }
    }

    mutating func nextSprites(_ now: Int64) -> [UploadRequest] {
        var requests: [UploadRequest] = []
        for (name, sprites) in self.sprites {
            let caching = "max-age=\(sprites.update.interval)"
            if let sheet = sprites.waiting.first {
                guard sprites.lane.isFree(at: now) else { continue }
                let request = self.request(
                    .sheet(index: name, name: sheet), sheet, .put(.fileIn(directory: sprites.update.directory)),
                    "image/jpeg", caching, UploadRules.segmentAttempt)
                self.sprites[name]?.lane.request = request.id
                requests.append(request)
            } else if sprites.document.isDue, sprites.document.lane.isFree(at: now) {
                let bytes = sprites.update.text
                let request = self.request(
                    .sprites(index: name, version: sprites.document.version), name, .put(.bytes(bytes)), "text/vtt",
                    caching, UploadRules.attempt * Int64(1 + bytes.count / UploadRules.attemptBytes))
                self.sprites[name]?.document.lane.request = request.id
                requests.append(request)
            }
        }
        return requests
    }
}
