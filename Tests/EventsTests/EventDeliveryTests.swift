import HTTPListener
import HTTPProbe
import HTTPTypes
import Logging
import MediaTypes
import Synchronization
import Testing

import Events

@Suite("Webhooks over loopback", .timeLimit(.minutes(1)))
struct EventDeliveryTests {
    /// A receiver that answers as it is told, request by request, and the last way from then on.
    private final class Receiver: Sendable {
        private struct State {
            var numbers: [String] = []
            var answers: [HTTPResponse.Status]
        }

        private let state: Mutex<State>
        private let server = Mutex<HTTPListener?>(nil)

        init(_ answers: [HTTPResponse.Status] = [.ok]) { self.state = Mutex(State(answers: answers)) }

        func start() async throws -> String {
            let server = try await HTTPListener.start(
                listen: ListenAddress(parsing: "127.0.0.1:0"),
                limits: HTTPListenerLimits(connections: 8, bodyBytes: 1 << 20),
                group: nil, place: "test", logger: Logger(label: "test")
            ) { request, answer in
                let id = request.head.headerFields[HTTPField.Name("webhook-id") ?? .from] ?? "?"
                let status = self.state.withLock { state in
                    state.numbers.append(id)
                    return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
                }
                answer(ListenerReply(status))
            }
            self.server.withLock { $0 = server }
            return server.boundAddress
        }

        /// From here on, and what came before is forgotten.
        func turn(_ answer: HTTPResponse.Status) { self.state.withLock { $0 = State(answers: [answer]) } }

        var received: [String] { self.state.withLock { $0.numbers } }

        func stop() async { await self.server.withLock { $0 }?.stop(within: .seconds(0)) }
    }

    private static func tell(_ log: EventLog, _ numbers: ClosedRange<Int64>) {
        for number in numbers { log.append(RoomEvent(sequence: number, type: "a.b", line: "{}")) }
    }

    @Test("each event once and in order, whatever the receiver says on the way")
    func order() async throws {
        let receiver = Receiver([.ok, .internalServerError, .found, .ok])
        let url = try await receiver.start()
        let notices = Mutex<[WebhookQueue.Notice]>([])
        let log = EventLog()
        let delivery = EventDelivery([Webhook(url: url)], of: log, roomID: "r", directory: nil) { _, notice in
            notices.withLock { $0.append(notice) }
        }
        delivery.begin(new: 0)
        Self.tell(log, 1...4)
        log.close()
        await delivery.finish(within: .seconds(20))
        #expect(receiver.received == ["r-1", "r-2", "r-2", "r-2", "r-3", "r-4"])
        #expect(notices.withLock { $0 } == [.failing("status 500"), .restored(failures: 2)])
        await receiver.stop()
    }

    @Test("what a receiver that is away does not get, it gets from the next worker")
    func successor() async throws {
        let directory = try TemporaryDirectory()
        let receiver = Receiver([.serviceUnavailable])
        let url = try await receiver.start()
        let log = EventLog(earlier: [RoomEvent(sequence: 1, type: "a.b", line: "{}")])
        let first = EventDelivery([Webhook(url: url)], of: log, roomID: "r", directory: directory.path) { _, _ in }
        first.begin(new: 1)
        Self.tell(log, 2...3)
        log.close()
        await first.finish(within: .milliseconds(300))
        receiver.turn(.ok)
        let next = EventLog(
            earlier: (1...3).map { RoomEvent(sequence: Int64($0), type: "a.b", line: "{}") })
        let second = EventDelivery([Webhook(url: url)], of: next, roomID: "r", directory: directory.path) { _, _ in }
        second.begin(new: next.last)
        Self.tell(next, 4...4)
        next.close()
        await second.finish(within: .seconds(20))
        #expect(receiver.received == ["r-2", "r-3", "r-4"], "not the first: nobody had begun to send then")
        await receiver.stop()
        directory.remove()
    }

    @Test("where the journal is lost and the book is not, the new numbers are sent all the same")
    func lostJournal() async throws {
        let directory = try TemporaryDirectory()
        let receiver = Receiver()
        let url = try await receiver.start()
        for numbers in [Int64(1)...9, 1...2] {
            let log = EventLog()
            let delivery = EventDelivery([Webhook(url: url)], of: log, roomID: "r", directory: directory.path) { _, _ in
            }
            delivery.begin(new: 0)
            Self.tell(log, numbers)
            log.close()
            await delivery.finish(within: .seconds(20))
        }
        #expect(receiver.received == (1...9).map { "r-\($0)" } + ["r-1", "r-2"])
        await receiver.stop()
        directory.remove()
    }

    @Test("one that is away holds up neither the others nor the end")
    func isolation() async throws {
        let receiver = Receiver()
        let url = try await receiver.start()
        let log = EventLog()
        let delivery = EventDelivery(
            [Webhook(url: "http://127.0.0.1:9/"), Webhook(url: url)], of: log, roomID: "r", directory: nil
        ) { _, _ in }
        delivery.begin(new: 0)
        Self.tell(log, 1...50)
        log.close()
        await delivery.finish(within: .seconds(2))
        #expect(receiver.received.count == 50)
        await receiver.stop()
    }
}
