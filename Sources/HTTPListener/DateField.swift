import Libc
import NIOCore
import Synchronization

/// The `Date` header field of replies, formatted at most once per second.
final class DateField: Sendable {
    private struct Last {
        var second: Int64 = -1
        var text = ""
        var ending = ByteBuffer()
        var closing = ByteBuffer()
    }

    private let last = Mutex(Last())

    var text: String { self.current(\.text) }

    /// Returns the last lines of an HTTP/1.1 head: the date and the empty line, with `connection: close` if `closes`.
    /// All callers within a second share the bytes.
    func ending(closes: Bool) -> ByteBuffer { self.current(closes ? \.closing : \.ending) }

    private func current<Value>(_ value: KeyPath<Last, Value> & Sendable) -> Value {
        let now = Int64(time(nil))
        return self.last.withLock { last in
            if last.second != now {
                let text = HTTPDate.text(unixSeconds: now)
                last = Last(
                    second: now, text: text, ending: ByteBuffer(string: "date: \(text)\r\n\r\n"),
                    closing: ByteBuffer(string: "connection: close\r\ndate: \(text)\r\n\r\n"))
            }
            return last[keyPath: value]
        }
    }
}
