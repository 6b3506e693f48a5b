import HTTPListener
import HTTPTypes
import Origin

/// A request for `GET /v1/audio`, a WebSocket that sends the program's audio to a speech recognizer.
enum AudioRequest {
    /// Program time of the first sample, in milliseconds.
    private static let time = HTTPField.Name("Tandem-Program-Time-Ms") ?? .from
    /// Sample pairs per millisecond.
    private static let pairsPerMs: Int64 = 48

    static let noWebSocket = ControlFailure.invalidFormat(
        "this path is a WebSocket", fix: "send the WebSocket handshake (RFC 6455)")

    /// - Parameter place: A permission to follow the room, which is kept until the client has left.
    static func reply(
        from room: any RoomControlling, _ request: ListenerRequest, _ place: FollowerSlots.Place
    ) -> ListenerReply {
        switch WebSocketHandshake(request.head) {
        case .notAsked: return .problem(Self.noWebSocket)
        case .refused(let reply): return reply
        case .accepted(var fields):
            do throws(ControlFailure) {
                let stream = try room.openAudioTap()
                stream.hold(place)
                fields[Self.time] = "\(stream.firstPosition / Self.pairsPerMs)"
                return ListenerReply(.switchingProtocols, fields: fields, body: .socket(stream))
            } catch {
                return .problem(error)
            }
        }
    }
}
