import LibAV
package import MediaTypes
import Synchronization

/// An overlay on the canvas (text, score bar, countdown or speaking ring) whose image can change between two ticks, with
/// the size reserved for it.
///
/// Scenes that show a text of the same id, style and position in a box of the same size share one slot, whatever the
/// text.
package struct OverlaySlot: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Style and position of a text; `text` is empty, so that a slot fits any text.
        case text(SceneText)
        /// Style and position of a score bar; both scores are 0, so that a slot fits any scores.
        case bar(ScoreBar)
        case countdown(Countdown)
        /// The ring of a source's pane while it speaks, on panes with this corner radius.
        case ring(SourceID, SpeakingRing, cornerRadius: Int)
    }

    package var kind: Kind
    /// Size of the image in samples, even.
    package var width: Int
    package var height: Int

    static func text(_ text: SceneText, width: Int, height: Int) -> OverlaySlot {
        var style = text
        style.text = ""
        return OverlaySlot(kind: .text(style), width: width, height: height)
    }

    static func bar(_ bar: ScoreBar) -> OverlaySlot {
        var style = bar
        (style.left, style.right) = (0, 0)
        return OverlaySlot(kind: .bar(style), width: bar.rect.width, height: bar.rect.height)
    }
}

extension Countdown {
    /// Returns the seconds left at a tick, rounded up; 0 once the countdown has ended.
    package func secondsLeft(at tick: Int64, fps: Int) -> Int64 {
        let left = self.endsAtTick &- tick
        return left <= 0 ? 0 : (left &+ Int64(fps) &- 1) / Int64(max(1, fps))
    }

    /// Formats a time as `mm:ss`, with more than two digits from 100 minutes on.
    package static func text(seconds: Int64) -> String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(seconds / 60)):\(two(seconds % 60))"
    }

    /// Returns a text in the countdown's style that shows the remaining time.
    func asText(seconds: Int64) -> SceneText {
        SceneText(
            id: self.id, text: Self.text(seconds: seconds), x: self.x, y: self.y, size: self.size, color: self.color,
            align: self.align, zOrder: self.zOrder)
    }
}

extension ScoreBar {
    /// Returns the column at which the left share of a bar ends, an even number of samples from the left.
    package static func split(width: Int, left: Int, right: Int) -> Int {
        // Larger than any score, and small enough that no product overflows.
        let (left, right) = (max(0, min(left, 1 << 40)), max(0, min(right, 1 << 40)))
        let sum = left + right
        return sum == 0 ? width / 2 & ~1 : (width * left / sum) & ~1
    }

    func sprite() -> Sprite {
        var sprite = Sprite(width: self.rect.width, height: self.rect.height)
        let split = Self.split(width: sprite.width, left: self.left, right: self.right)
        sprite.fill(x: 0, y: 0, width: split, height: sprite.height, self.leftColor)
        sprite.fill(x: split, y: 0, width: sprite.width - split, height: sprite.height, self.rightColor)
        return sprite
    }
}

/// Current images of all decorations: drawn by the builder thread, read by the program thread once per tick.
package final class OverlayCache: Sendable {
    private struct State {
        var images: [OverlaySlot: Picture] = [:]
        /// Images of countdowns, drawn ahead of time, by seconds left.
        var countdowns: [OverlaySlot: [Int64: Picture]] = [:]
        /// Images of rings: the ring, and the transparent image that is shown while its source does not speak.
        var rings: [OverlaySlot: (shown: Picture, hidden: Picture)] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Number of cached images of texts and score bars.
    var count: Int { self.state.withLock { $0.images.count } }

    func show(_ picture: Picture, in slot: OverlaySlot) { self.state.withLock { $0.images[slot] = picture } }

    func has(_ slot: OverlaySlot) -> Bool { self.state.withLock { $0.images[slot] != nil } }

    func has(_ slot: OverlaySlot, seconds: Int64) -> Bool {
        self.state.withLock { $0.countdowns[slot]?[seconds] != nil }
    }

    func show(_ picture: Picture, in slot: OverlaySlot, seconds: Int64) {
        self.state.withLock { $0.countdowns[slot, default: [:]][seconds] = picture }
    }

    /// Whether both images of a ring are drawn.
    func hasRing(_ slot: OverlaySlot) -> Bool { self.state.withLock { $0.rings[slot] != nil } }

    /// Sets the images of a ring. They are drawn once, so that a source that begins to speak needs no drawing.
    func setRing(shown: Picture, hidden: Picture, in slot: OverlaySlot) {
        self.state.withLock { $0.rings[slot] = (shown, hidden) }
    }

    /// Returns the image of each slot at a tick, in order; `nil` if none is drawn: the caller keeps the previous image.
    ///
    /// - Parameter speaking: The sources whose rings are visible.
    func images(_ slots: [OverlaySlot], tick: Int64, fps: Int, speaking: Set<SourceID> = []) -> [Picture?] {
        self.state.withLock { state in
            slots.map { slot in
                switch slot.kind {
                case .text, .bar: state.images[slot]
                case .countdown(let countdown): state.countdowns[slot]?[countdown.secondsLeft(at: tick, fps: fps)]
                case .ring(let source, _, _):
                    speaking.contains(source) ? state.rings[slot]?.shown : state.rings[slot]?.hidden
                }
            }
        }
    }

    /// Removes the images of all slots but `slots`, and images of countdowns that are no longer needed at `tick`.
    func keep(_ slots: Set<OverlaySlot>, tick: Int64, fps: Int) {
        self.state.withLock { state in
            state.images = state.images.filter { slots.contains($0.key) }
            state.countdowns = state.countdowns.filter { slots.contains($0.key) }
            state.rings = state.rings.filter { slots.contains($0.key) }
            for (slot, images) in state.countdowns {
                guard case .countdown(let countdown) = slot.kind else { continue }
                let now = countdown.secondsLeft(at: tick, fps: fps)
                state.countdowns[slot] = images.filter { $0.key <= now + 1 }
            }
        }
    }
}
