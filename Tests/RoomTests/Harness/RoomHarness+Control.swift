import Control
import Dispatch
import HTTPListener
import HTTPTypes
import MediaTypes
import PipelineSpec
import Threading
import Synchronization
import Testing

/// The control API, below its listener.
extension RoomHarness {
    /// What a request was answered.
    struct Reply: Sendable {
        let status: Int
        let body: String

        /// A member of the answer, of objects in it if `path` names more than one.
        func member(_ path: String...) -> JSONNode? {
            path.reduce(JSONParser.parse(Array(self.body.utf8)).root) { $0?[key: $1] }
        }

        /// An element of the array `list` whose `name` is `value`.
        func element(_ list: String, _ name: String, _ value: String) -> JSONNode? {
            guard case .array(let elements)? = self.member(list)?.content else { return nil }
            return elements.first { $0[key: name]?.string == value }
        }
    }

    /// Sends a request and waits for its answer; the room's threads are at rest when this returns.
    ///
    /// - Parameters:
    ///   - status: What is expected.
    ///   - settles: False: the room's threads may do something yet. A thread of a room whose worker is stopped does not come to rest.
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

    /// The room's state: `GET /v1/room`. It must fit its schema.
    func state() async throws -> Reply {
        let reply = try await self.command(.get, "/v1/room")
        #expect(ShapeCheck.faults(reply: reply.member(), "RoomState") == [])
        return reply
    }

    private func answer(_ request: ListenerRequest, settles: Bool) throws -> Reply {
        let reply = try self.begin(request).wait()
        if settles {
            // What the command hands to the event loop, such as a kick, is done behind this.
            try self.room.ingest?.perform { _ in }
            try self.clock.settle()
        }
        return reply
    }

    /// Sends a request, on a thread of its own, and does not wait for its answer.
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

    /// A request that has been sent.
    final class Pending: Sendable {
        private let path: String
        private let answer = Mutex<ListenerReply?>(nil)
        private let isAnswered = DispatchSemaphore(value: 0)

        fileprivate init(_ path: String) { self.path = path }

        fileprivate func take(_ reply: ListenerReply) {
            self.answer.withLock { $0 = reply }
            self.isAnswered.signal()
        }

        /// `nil`: it has not been answered.
        var reply: Reply? {
            self.answer.withLock { $0 }.map { reply in
                var body = ""
                if case .bytes(let bytes, let range) = reply.body {
                    body = String(decoding: bytes[range], as: UTF8.self)
                }
                return Reply(status: reply.status.code, body: body)
            }
        }

        /// Blocks until it is answered.
        func wait() throws -> Reply {
            guard self.isAnswered.wait(timeout: .now() + TestClock.patience) == .success, let reply = self.reply else {
                throw TestClock.Timeout(description: "no answer to \(self.path)")
            }
            return reply
        }
    }
}
