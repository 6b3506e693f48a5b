package import MediaTypes

/// The content of user data SEI messages in video frames: the layout of the sources in the frame, and an application
/// text.
///
/// The body is one JSON object in the format that players of mixed streams know: `canvas` (`w`, `h`, `bgnd`), `regions`
/// (`uid`, `alpha`, `zorder`, `volume`, `x`, `y`, `w`, `h`), `ver`, `ts` (milliseconds since the Unix epoch),
/// `app_data`.
package struct UserDataPlan: Sendable, Hashable {
    /// Version of the JSON format, sent as `ver`.
    private static let version = "20190611"

    /// A layout that is on air from a frame on.
    private struct Row: Sendable, Hashable {
        var frame: Int64
        var layout: [JSONValue.Member]
    }

    /// UUID of the SEI message, 16 bytes.
    package let identifier: [UInt8]
    /// Number of frames from one SEI message to the next; 0: only IDR frames (with ``followsIDR``) and frames with an
    /// event have one.
    package let interval: Int64
    /// Whether every IDR frame has an SEI message.
    package let followsIDR: Bool
    /// Text that is sent as `app_data` in frames without an event.
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

    /// Sets the layout that is on air from a frame on.
    ///
    /// - Parameter isScheduled: Whether the caller chose the frame. Otherwise layouts scheduled for later frames are
    ///   discarded.
    package mutating func show(_ layout: [JSONValue.Member], from frame: Int64, isScheduled: Bool) {
        self.rows.removeAll { isScheduled ? $0.frame == frame : $0.frame >= frame }
        let place = self.rows.firstIndex { $0.frame > frame } ?? self.rows.endIndex
        self.rows.insert(Row(frame: frame, layout: layout), at: place)
    }

    /// Number of stored layouts: past ones that are not dropped yet, the one on air, and scheduled ones.
    package var layoutCount: Int { self.rows.count }

    /// Whether a frame without an event has an SEI message.
    ///
    /// - Parameter step: Ratio of the program's frame rate to the track's: 2 for a track at half the frame rate.
    func isDue(at frame: Int64, isKey: Bool, step: Int64) -> Bool {
        if self.followsIDR, isKey { return true }
        guard self.interval > 0, frame >= 0 else { return false }
        return frame / self.interval != (frame - step) / self.interval || frame < step
    }

    /// Drops the layouts that a later one has replaced before or at `frame`.
    mutating func forget(before frame: Int64) {
        guard let last = self.rows.lastIndex(where: { $0.frame <= frame }), last > 0 else { return }
        self.rows.removeFirst(last)
    }

    /// Returns the SEI NAL unit for a frame, with the layout that is on air; before the first layout, with that one.
    ///
    /// - Parameter event: Text for `app_data`; `nil`: ``extraInfo``.
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
