package import Push

/// What is wrong with an output that goes elsewhere, in the words of the alarms. Pure.
package enum OutputAlarm {
    /// Of an RTMP output; `nil`: nothing.
    ///
    /// An attempt after a failure is no recovery: it holds until the server takes media again.
    package static func of(_ push: PushStatus) -> AlarmBook.Alarm? {
        guard let failure = push.lastFailure else { return nil }
        let reason = push.lastError.map { ": \($0)" } ?? ""
        switch push.state {
        // One that is stopped has ended with the room: nothing is given up before.
        case .waiting, .live, .stopped: return nil
        case .connecting, .failed:
            let (type, what) =
                switch failure {
                case .unreachable: ("output.unreachable", "is not reached")
                case .refused: ("output.refused", "is refused")
                case .wedged: ("output.stalled", "takes nothing")
                }
            return AlarmBook.Alarm(
                type, "alert_2", kind: "output", subject: push.outputID, message: "\(push.outputID) \(what)\(reason)")
        }
    }

    /// Of a store; `nil`: nothing.
    ///
    /// - Parameters:
    ///   - isFailing: The last attempt failed.
    ///   - waiting: Segments that wait.
    package static func ofStore(_ outputID: String, isFailing: Bool, waiting: Int) -> AlarmBook.Alarm? {
        guard isFailing else { return nil }
        return AlarmBook.Alarm(
            "output.unreachable", "alert_2", kind: "output", subject: outputID,
            message: "\(outputID) takes nothing; \(waiting) segments wait")
    }

    /// Nanoseconds for which a directory that was moved away is told after everything is written again: whoever asks once a
    /// minute is to see it.
    private static let placeHolds: Int64 = 120_000_000_000

    /// Of a directory that was moved away, emptied or mounted over; `nil`: that is long ago.
    ///
    /// - Parameters:
    ///   - noticed: When everything was written again.
    ///   - now: On the same clock; nanoseconds.
    package static func ofPlace(_ path: String, noticed: Int64, now: Int64) -> AlarmBook.Alarm? {
        guard now &- noticed < Self.placeHolds else { return nil }
        return AlarmBook.Alarm(
            "output.moved", "alert_2", kind: "output",
            message:
                "\(path) was moved away, emptied or mounted over while the room ran; everything is written there again")
    }

    /// The number of a level: 0 to 3.
    package static func level(_ severity: String?) -> Int64 {
        switch severity {
        case "alert_1": 1
        case "alert_2": 2
        case "alert_3": 3
        default: 0
        }
    }
}
