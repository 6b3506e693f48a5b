package import LibAV
package import MediaTypes

/// One play of an animation over the canvas, as a command asks for it.
package struct OverlayRequest: Sendable, Hashable {
    /// Name of the overlay in the pipeline.
    package var name: String
    package var path: String
    package var alpha: AnimationAlpha
    /// The rectangle of the canvas that the animation is fitted into; even numbers, inside the canvas.
    package var box: PixelRect
    /// Number of times that the animation is played in a row, 1…100.
    package var loops: Int
    /// Factor for the animation's audio, 0…2.
    package var volume: Float

    package init(name: String, path: String, alpha: AnimationAlpha, box: PixelRect, loops: Int, volume: Float) {
        self.name = name
        self.path = path
        self.alpha = alpha
        self.box = box
        self.loops = min(100, max(1, loops))
        self.volume = min(2, max(0, volume))
    }
}

/// Which plays of overlays are on air and which wait for their turn. A value without threads or clocks.
///
/// Invariant: at most ``mostActive`` plays are active, and at most ``mostWaiting`` wait.
package struct OverlayLineup: Sendable {
    /// Largest number of plays on air at once, those that are about to start included.
    package static let mostActive = 4
    /// Largest number of plays that wait.
    package static let mostWaiting = 16

    /// What happens to a request to play an overlay.
    package enum Outcome: Sendable, Equatable {
        /// The play starts at a tick.
        case starts(id: Int64, tick: Int64)
        /// The play waits until an active one has ended. `position`: its place in the queue, from 1.
        case waits(id: Int64, position: Int)
    }

    /// Why a request to play an overlay is refused.
    package enum Refusal: Error, Sendable {
        /// ``mostWaiting`` plays wait.
        case full
        /// The machine is overloaded.
        case paused
        /// The program has ended.
        case closed
    }

    /// A play whose start tick is known.
    package struct Start: Sendable, Equatable {
        package var id: Int64
        package var request: OverlayRequest
        package var tick: Int64

        package init(id: Int64, request: OverlayRequest, tick: Int64) {
            self.id = id
            self.request = request
            self.tick = tick
        }
    }

    private let lead: Int64
    private var active: Set<Int64> = []
    private var waiting: [(id: Int64, request: OverlayRequest)] = []
    private var lastID: Int64 = 0
    /// Whether plays are refused because the machine is overloaded.
    package private(set) var isPaused = false
    private var isClosed = false

    /// - Parameter lead: Number of ticks from the decision that a play starts to its first tick, in which its file is
    ///   opened.
    package init(lead: Int64) { self.lead = max(1, lead) }

    package var isEmpty: Bool { self.active.isEmpty && self.waiting.isEmpty }

    /// Accepts a play that starts `lead` ticks after `tick`, or puts it in the queue.
    package mutating func play(_ request: OverlayRequest, at tick: Int64) throws(Refusal) -> Outcome {
        if self.isClosed { throw .closed }
        if self.isPaused { throw .paused }
        let isDirect = self.active.count < Self.mostActive && self.waiting.isEmpty
        guard isDirect || self.waiting.count < Self.mostWaiting else { throw .full }
        self.lastID &+= 1
        if isDirect {
            self.active.insert(self.lastID)
            return .starts(id: self.lastID, tick: tick &+ self.lead)
        }
        self.waiting.append((self.lastID, request))
        return .waits(id: self.lastID, position: self.waiting.count)
    }

    /// Whether a play is on air or about to start.
    package func isActive(_ id: Int64) -> Bool { self.active.contains(id) }

    /// Notes that an active play has ended.
    package mutating func ended(_ id: Int64) { self.active.remove(id) }

    /// Removes from the queue the plays for which there is space now, and returns them; they start `lead` ticks after `tick`.
    package mutating func startWaiting(at tick: Int64) -> [Start] {
        guard !self.waiting.isEmpty, self.active.count < Self.mostActive else { return [] }
        var starts: [Start] = []
        while self.active.count < Self.mostActive, !self.waiting.isEmpty {
            let (id, request) = self.waiting.removeFirst()
            self.active.insert(id)
            starts.append(Start(id: id, request: request, tick: tick &+ self.lead))
        }
        return starts
    }

    /// Sets whether plays are refused because of overload. With `true`, all active and waiting plays are removed.
    ///
    /// - Returns: The ids and names of the plays that waited.
    package mutating func setPaused(_ isPaused: Bool) -> [(id: Int64, name: String)] {
        self.isPaused = isPaused
        return isPaused ? self.drop() : []
    }

    /// Ends all plays; no play is accepted any more.
    ///
    /// - Returns: The ids and names of the plays that waited.
    package mutating func close() -> [(id: Int64, name: String)] {
        self.isClosed = true
        return self.drop()
    }

    private mutating func drop() -> [(id: Int64, name: String)] {
        defer { (self.active, self.waiting) = ([], []) }
        return self.waiting.map { ($0.id, $0.request.name) }
    }
}
