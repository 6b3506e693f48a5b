/// Sheets of stills, and the file that says which rectangle of which of them shows which time, as they are now.
package struct SpriteUpdate: Sendable, Hashable {
    /// Name of that file.
    package let index: String
    /// Its text, WebVTT.
    package let text: [UInt8]
    /// Where the sheets are on this machine; they may be written anew there at any time.
    package let directory: String
    /// Names of the sheets that are new or other than in the update before, the oldest first; the first time all there are.
    package let changed: [String]
    /// Names of those the index names no more.
    package let gone: [String]
    /// Seconds from one still to the next; 1 or more.
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

/// The sheets of one index as a store has them. One sheet after another, however many there are: media goes first.
struct UploadSprites: Sendable {
    var update: SpriteUpdate
    /// Sheets the store lacks or has older, the oldest first. As many as an index names at most.
    var waiting: [String] = []
    /// The first of ``waiting`` has changed since its bytes were read.
    var isStale = false
    var lane = UploadLane()
    var document = UploadDocument()

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
        // What was told to be gone meanwhile is not the first any more.
        guard self.waiting.first == name, !self.isStale || outcome == .absent else { return }
        self.waiting.removeFirst()
    }

    /// When its lane is free again, if something is due and nothing under way; `nil`: never by itself.
    var due: Int64? {
        if !self.waiting.isEmpty { return self.lane.request == nil ? self.lane.due : nil }
        return self.document.isDue && self.document.lane.request == nil ? self.document.lane.due : nil
    }
}

extension UploadQueue {
    /// Indexes of sheets at once.
    private static let mostIndexes = 8

    /// Sends sheets of stills that have changed, and then their index: it is never in the store before a sheet it names, and the
    /// newest alone is sent.
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
