import MediaTypes
import NIOCore
import Synchronization

/// Who is there: content that notes when a playlist was last asked for.
final class Audience: OriginContent {
    private let content: any OriginContent
    /// Nanoseconds of the system's monotonic clock; 0 before the first.
    private let lastList = Atomic<UInt64>(0)

    init(_ content: any OriginContent) { self.content = content }

    /// Nanoseconds since a playlist was asked for; `nil`: none has been.
    var sinceList: Int64? {
        let last = self.lastList.load(ordering: .relaxed)
        guard last != 0 else { return nil }
        return Int64(clamping: NIODeadline.now().uptimeNanoseconds &- last)
    }

    func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
        if request.path.hasSuffix(".m3u8") {
            self.lastList.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed)
        }
        self.content.answer(to: request, answer)
    }

    var ended: Bool { self.content.ended }
    func expire() { self.content.expire() }
    func close() { self.content.close() }
}
