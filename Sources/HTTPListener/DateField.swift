import Glibc
import Synchronization

/// The text of the `Date` field, made once a second.
final class DateField: Sendable {
    private let last = Mutex<(second: Int64, text: String)>((-1, ""))

    var text: String {
        let now = Int64(time(nil))
        return self.last.withLock { last in
            if last.second != now { last = (now, HTTPDate.text(unixSeconds: now)) }
            return last.text
        }
    }
}
