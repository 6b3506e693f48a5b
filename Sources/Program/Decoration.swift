import LibAV
import Synchronization

/// A small element on the canvas whose image can change between two ticks, with the size reserved for it.
///
/// Scenes that show the same text in the same style share one slot.
package struct OverlaySlot: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// With an empty text.
        case text(SceneText)
        /// With both scores 0.
        case bar(ScoreBar)
        case countdown(Countdown)
    }

    package var kind: Kind
    /// Samples, even.
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
    /// Seconds left at a tick, rounded up; 0 from the end on.
    package func secondsLeft(at tick: Int64, fps: Int) -> Int64 {
        let left = self.endsAtTick &- tick
        return left <= 0 ? 0 : (left &+ Int64(fps) &- 1) / Int64(max(1, fps))
    }

    /// `mm:ss`; more than 99 minutes take more digits.
    package static func text(seconds: Int64) -> String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(seconds / 60)):\(two(seconds % 60))"
    }

    /// A text of the countdown's style with the remaining time.
    func asText(seconds: Int64) -> SceneText {
        SceneText(
            id: self.id, text: Self.text(seconds: seconds), x: self.x, y: self.y, size: self.size, color: self.color,
            align: self.align, zOrder: self.zOrder)
    }
}

extension ScoreBar {
    /// The column of the bar where the left share ends; even.
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
        var pictures: [OverlaySlot: Picture] = [:]
        /// Images of countdowns, drawn ahead of time, by seconds left.
        var countdowns: [OverlaySlot: [Int64: Picture]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Number of images, without countdowns.
    var count: Int { self.state.withLock { $0.pictures.count } }

    func show(_ picture: Picture, in slot: OverlaySlot) { self.state.withLock { $0.pictures[slot] = picture } }

    func has(_ slot: OverlaySlot) -> Bool { self.state.withLock { $0.pictures[slot] != nil } }

    func has(_ slot: OverlaySlot, seconds: Int64) -> Bool {
        self.state.withLock { $0.countdowns[slot]?[seconds] != nil }
    }

    func show(_ picture: Picture, in slot: OverlaySlot, seconds: Int64) {
        self.state.withLock { $0.countdowns[slot, default: [:]][seconds] = picture }
    }

    /// The images of these slots at a tick; `nil` keeps the previous image.
    func pictures(_ slots: [OverlaySlot], tick: Int64, fps: Int) -> [Picture?] {
        self.state.withLock { state in
            slots.map { slot in
                guard case .countdown(let countdown) = slot.kind else { return state.pictures[slot] }
                return state.countdowns[slot]?[countdown.secondsLeft(at: tick, fps: fps)]
            }
        }
    }

    /// Removes slots that no scene shows, and seconds of countdowns that have passed.
    func keep(_ slots: Set<OverlaySlot>, tick: Int64, fps: Int) {
        self.state.withLock { state in
            state.pictures = state.pictures.filter { slots.contains($0.key) }
            state.countdowns = state.countdowns.filter { slots.contains($0.key) }
            for (slot, pictures) in state.countdowns {
                guard case .countdown(let countdown) = slot.kind else { continue }
                let now = countdown.secondsLeft(at: tick, fps: fps)
                state.countdowns[slot] = pictures.filter { $0.key <= now + 1 }
            }
        }
    }
}
