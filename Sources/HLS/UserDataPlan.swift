package import MediaTypes

/// What the pictures say of the program: who lies where in them, and a text of the operator's.
///
/// The body is one JSON object in the layout that players of mixed streams know: `canvas` (`w`, `h`, `bgnd`), `regions`
/// (`uid`, `alpha`, `zorder`, `volume`, `x`, `y`, `w`, `h`), `ver`, `ts` (milliseconds since the Unix epoch), `app_data`.
package struct UserDataPlan: Sendable, Hashable {
    /// Version of the layout.
    private static let version = "20190611"

    /// What is on air from a frame on.
    private struct Row: Sendable, Hashable {
        var frame: Int64
        var layout: [JSONValue.Member]
    }

    /// 16 bytes.
    package let identifier: [UInt8]
    /// Frames from one to the next; 0: none but with ``followsIDR``.
    package let interval: Int64
    /// Every IDR picture has it.
    package let followsIDR: Bool
    /// `app_data` where no event gives another.
    package let extraInfo: String
    /// Date of frame 0: nanoseconds since the Unix epoch.
    package let origin: Int64
    package let fps: Int64
    private var rows: [Row] = []

    package init(
        identifier: [UInt8], interval: Int64, followsIDR: Bool, extraInfo: String, origin: Int64, fps: Int
    ) {
        self.identifier = identifier
        self.interval = max(0, interval)
        self.followsIDR = followsIDR
        self.extraInfo = extraInfo
        self.origin = origin
        self.fps = Int64(max(1, fps))
    }

    /// From a frame on another layout is on air.
    ///
    /// - Parameter isScheduled: Somebody named the frame; otherwise it takes back what was to come even later.
    package mutating func show(_ layout: [JSONValue.Member], from frame: Int64, isScheduled: Bool) {
        self.rows.removeAll { isScheduled ? $0.frame == frame : $0.frame >= frame }
        let place = self.rows.firstIndex { $0.frame > frame } ?? self.rows.endIndex
        self.rows.insert(Row(frame: frame, layout: layout), at: place)
    }

    /// Layouts that are on air or wait for their picture.
    package var layoutCount: Int { self.rows.count }

    /// A picture without an event has one all the same.
    ///
    /// - Parameter step: Frames from one picture of the track to the next.
    func isDue(at frame: Int64, isKey: Bool, step: Int64) -> Bool {
        if self.followsIDR, isKey { return true }
        guard self.interval > 0, frame >= 0 else { return false }
        return frame / self.interval != (frame - step) / self.interval || frame < step
    }

    /// Lets go of what no picture from `frame` on shows.
    mutating func forget(before frame: Int64) {
        guard let last = self.rows.lastIndex(where: { $0.frame <= frame }), last > 0 else { return }
        self.rows.removeFirst(last)
    }

    /// - Parameter event: `app_data` of this one; `nil`: ``extraInfo``.
    func unit(at frame: Int64, event: String?) -> [UInt8] {
        let date = self.origin &+ TimeMath.scale(frame, by: TimeMath.nanoseconds, over: self.fps)
        let layout = self.rows.last { $0.frame <= frame } ?? self.rows.first
        let body = JSONValue.object(
            (layout?.layout ?? []) + [
                .init("ver", .string(Self.version)),
                .init("ts", .integer(TimeMath.scale(date, by: 1, over: 1_000_000))),
                .init("app_data", .string(event ?? self.extraInfo)),
            ])
        return UserDataUnit.bytes(identifier: self.identifier, Array(body.text.utf8))
    }
}
