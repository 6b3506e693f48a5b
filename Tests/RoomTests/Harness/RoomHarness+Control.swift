import Control
import Dispatch
import HTTPListener
import HTTPTypes
import MediaTypes
import PipelineSpec
import Threading
import Synchronization
import Testing

/// The control API, without its listener.
extension RoomHarness {
    /// The reply to a request.
    struct Reply: Sendable {
        let status: Int
        let body: String

        /// A member of the reply; more than one name in `path` leads into nested objects.
        func member(_ path: String...) -> JSONNode? {
            path.reduce(JSONParser.parse(Array(self.body.utf8)).root) { $0?[key: $1] }
        }

        /// The element of the array `list` whose member `name` equals `value`.
        func element(_ list: String, _ name: String, _ value: String) -> JSONNode? {
            guard case .array(let elements)? = self.member(list)?.content else { return nil }
            return elements.first { $0[key: name]?.string == value }
        }
    }

    /// Sends a request, waits for its reply and checks the reply's status.
    ///
    /// - Parameters:
    ///   - status: The expected status.
    ///   - settles: Whether to wait until the room's threads are idle. A thread of a stopped worker never becomes idle.
    @discardableResult
    func command(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "{}", fields: HTTPFields = [:],
        status: Int = 200, settles: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Reply {
        let request = ListenerRequest(
            head: HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields),
            body: .bytes(method == .get ? [] : Array(body.utf8)))
        let reply = try await offPool { try self.answer(request, settles: settles) }
        #expect(reply.status == status, "\(method) \(path): \(reply.body)", sourceLocation: sourceLocation)
        return reply
    }

    /// The room's state: `GET /v1/room`. The reply is checked against its schema.
    func state() async throws -> Reply { try await self.read("/v1/room", "RoomState") }

    /// The reply to `GET`, checked against its schema.
    @discardableResult
    func read(_ path: String, _ schema: String) async throws -> Reply {
        let reply = try await self.command(.get, path)
        #expect(ShapeCheck.faults(reply: reply.member(), schema) == [])
        return reply
    }

    private func answer(_ request: ListenerRequest, settles: Bool) throws -> Reply {
        let reply = try self.begin(request).wait()
        if settles {
            // Work that the command hands to the event loop, such as a kick, is done when this returns.
            try self.room.ingest?.perform { _ in }
            try self.clock.settle()
        }
        return reply
    }

    /// Sends a request on a thread of its own, without waiting for the reply.
    func begin(_ method: HTTPRequest.Method, _ path: String, _ body: String) throws -> Pending {
        try self.begin(
            ListenerRequest(
                head: HTTPRequest(method: method, scheme: nil, authority: nil, path: path),
                body: .bytes(Array(body.utf8))))
    }

    private func begin(_ request: ListenerRequest) throws -> Pending {
        let pending = Pending(request.head.path ?? "")
        _ = StageThread("command") { [responder] in responder.answer(request) { pending.take($0) } }
        return pending
    }

    /// A request in progress.
    final class Pending: Sendable {
        private let path: String
        private let answer = Mutex<ListenerReply?>(nil)
        private let isAnswered = DispatchSemaphore(value: 0)

        fileprivate init(_ path: String) { self.path = path }

        fileprivate func take(_ reply: ListenerReply) {
            self.answer.withLock { $0 = reply }
            self.isAnswered.signal()
        }

        /// The reply; nil until it arrives.
        var reply: Reply? {
            self.answer.withLock { $0 }.map { reply in
                var body = ""
                if case .bytes(let bytes, let range) = reply.body {
                    body = String(decoding: bytes[range], as: UTF8.self)
                }
                return Reply(status: reply.status.code, body: body)
            }
        }

        /// Blocks until the reply arrives.
        func wait() throws -> Reply {
            guard self.isAnswered.wait(timeout: .now() + TestClock.patience) == .success, let reply = self.reply else {
                throw TestClock.Timeout(description: "no answer to \(self.path)")
            }
            return reply
        }
    }
}
