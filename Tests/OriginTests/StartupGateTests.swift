import MediaTypes
import Origin
import Synchronization
import TestSupport
import Testing

@Suite("StartupGate: requests wait until a new worker has published")
struct StartupGateTests {
    private final class Clock: MonotonicClock {
        let time = Atomic<Int64>(0)
        func now() -> Int64 { self.time.load(ordering: .relaxed) }
    }

    /// Answers every request with its path, and counts the requests.
    private final class Content: OriginContent {
        let asked = Atomic<Int>(0)
        var ended: Bool { false }
        func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
            self.asked.add(1, ordering: .relaxed)
            answer(.refused(request.path))
        }
    }

    private static func ask(_ content: StartupGate, _ path: String) async -> String {
        await withCheckedContinuation { continuation in
            content.answer(to: OriginRequest(path: path)) { answer in
                switch answer {
                case .refused(let text), .late(let text): continuation.resume(returning: text)
                case .object, .missing: continuation.resume(returning: "")
                }
            }
        }
    }

    @Test("after StartupGate.hold(), requests wait, and open() answers them")
    func holds() async throws {
        let inner = Content()
        let content = StartupGate(inner, isOpen: true, clock: Clock())
        #expect(await Self.ask(content, "/a") == "/a")
        content.hold()
        async let late = Self.ask(content, "/b")
        try await waitUntil("the question waits") {
            inner.asked.load(ordering: .relaxed) > 1 || content.isWaitedFor
        }
        #expect(inner.asked.load(ordering: .relaxed) == 1)
        content.open()
        #expect(await late == "/b")
    }

    @Test("a request before open() is answered when the gate opens, a later one at once")
    func opens() async throws {
        let inner = Content()
        let content = StartupGate(inner, clock: Clock())
        try await withThrowingTaskGroup(of: String.self) { group in
            let early = Atomic<Int>(0)
            for index in 0..<8 {
                content.answer(to: OriginRequest(path: "early \(index)")) { _ in early.add(1, ordering: .relaxed) }
            }
            #expect(inner.asked.load(ordering: .relaxed) == 0)
            content.open()
            content.open()
            try await waitUntil("all are answered", { early.load(ordering: .relaxed) }) { $0 == 8 }
            #expect(inner.asked.load(ordering: .relaxed) == 8)
        }
        #expect(await Self.ask(content, "later") == "later")
    }

    @Test("a request that waits too long gets an error reply, and so does each one after close()")
    func expires() async {
        let clock = Clock()
        let content = StartupGate(Content(), clock: clock)
        async let waiting = Self.ask(content, "a")
        for _ in 0..<100 { await Task.yield() }
        content.expire()
        // Later than any request's timeout.
        clock.time.store(60_000_000_000, ordering: .relaxed)
        let expiry = Task {
            while !Task.isCancelled {
                content.expire()
                clock.time.add(1_000_000_000, ordering: .relaxed)
                await Task.yield()
            }
        }
        #expect(await waiting == "the room has not begun in time")
        expiry.cancel()
        content.close()
        #expect(await Self.ask(content, "b") == "the listener stops")
    }
}
