import HTTPListener
import HTTPTypes

/// A request for media of the operators' page: `/media/NAME` stands for NAME on the viewers' listener.
struct MediaRequest {
    private static let prefix = "/media/"

    private let media: ControlListenerOptions.Media
    private let request: ListenerRequest

    /// Makes the request; nil for other paths, for methods other than GET and HEAD, and if the room has no HLS output.
    init?(_ request: ListenerRequest, _ options: ControlListenerOptions) {
        guard let media = options.media, request.head.method == .get || request.head.method == .head,
            let path = request.head.path, path.hasPrefix(Self.prefix)
        else { return nil }
        var head = request.head
        head.path = "/" + path.dropFirst(Self.prefix.count)
        self.media = media
        self.request = ListenerRequest(head: head, body: request.body, client: request.client)
    }

    func answer(_ answer: @escaping @Sendable (ListenerReply) -> Void) { self.media.answer(self.request, answer) }
}
