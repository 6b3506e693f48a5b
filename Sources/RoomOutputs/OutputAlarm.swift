package import Events
package import Push

/// Alarms of outputs. Pure functions.
package enum OutputAlarm {
    private static func alarm(_ type: String, _ severity: String, of id: String? = nil, _ message: String) -> RoomAlarm
    {
        RoomAlarm(type, severity, kind: "output", subject: id, message: message)
    }

    /// The alarm of an RTMP output; nil if its last connection has not failed, or if the output works or was stopped.
    ///
    /// A new connection attempt does not clear the alarm: it stays until the server accepts media again.
    package static func of(_ push: PushStatus) -> RoomAlarm? {
        guard let failure = push.lastFailure else { return nil }
        let reason = push.lastError.map { ": \($0)" } ?? ""
        switch push.state {
        // A failing output is retried until the room ends, so it never stops by itself.
        case .waiting, .live, .stopped: return nil
        case .connecting, .failed:
            let (type, what) =
                switch failure {
                case .unreachable: ("output.unreachable", "cannot be reached")
                case .refused: ("output.refused", "is rejected by its server")
                case .wedged: ("output.stalled", "is stalled, because its server accepts no data")
                }
            return self.alarm(type, "alert_2", of: push.outputID, "\(push.outputID) \(what)\(reason)")
        }
    }

    /// The alarm of a store that HLS files are uploaded to; nil if uploads work.
    ///
    /// - Parameters:
    ///   - isFailing: Whether the last upload attempt failed.
    ///   - waiting: Number of segments that wait to be uploaded.
    ///   - reason: Why the last attempt failed.
    package static func ofStore(
        _ outputID: String, isFailing: Bool, waiting: Int, reason: String? = nil
    ) -> RoomAlarm? {
        guard isFailing else { return nil }
        return self.alarm(
            "output.unreachable", "alert_2", of: outputID,
            "\(outputID) accepts no uploads; \(waiting) segments wait" + (reason.map { ": \($0)" } ?? ""))
    }

    /// How long the alarm of a moved directory stays after all files were written again, in nanoseconds. A client that
    /// polls once per minute sees it.
    private static let placeHolds: Int64 = 120_000_000_000

    /// The alarm of an output directory that was moved away, emptied or mounted over; nil 120 s after it was noticed.
    ///
    /// - Parameters:
    ///   - noticed: When it was noticed and all files were written again.
    ///   - now: The current time of the same clock. Both are in nanoseconds.
    package static func ofPlace(_ path: String, noticed: Int64, now: Int64) -> RoomAlarm? {
        guard now &- noticed < Self.placeHolds else { return nil }
        return self.alarm(
            "output.moved", "alert_2",
            "\(path) was moved away, emptied or mounted over while the room ran; the files that could be restored are written there again"
        )
    }

    /// The alarms of the disks to which the outputs are written.
    static func ofDisk(_ disk: DiskState) -> [RoomAlarm] {
        var alarms: [RoomAlarm] = []
        let status = disk.current
        if status.level > .normal {
            alarms.append(self.alarm("output.disk_low", status.level.name, status.message))
        }
        if disk.isStalled {
            alarms.append(
                self.alarm(
                    "output.stalled", "alert_2", "segments cannot be written; memory holds them for a while"))
        }
        return alarms
    }

    /// The number of an alarm severity: 1…3 for `alert_1` to `alert_3`; 0 for no alarm.
    package static func level(_ severity: String?) -> Int64 {
        switch severity {
        case "alert_1": 1
        case "alert_2": 2
        case "alert_3": 3
        default: 0
        }
    }
}
