import NIOCore
import WebRTC

/// One viewer of the server. Bound to the server's event loop.
final class Viewer {
    let number: Int
    let id: String
    let rendition: Rendition
    let session: ViewerSession
    /// When its offer was answered.
    let joined: Int64
    var etag: String
    var remoteUfrag: String
    /// Settings of the answer, for an ICE restart.
    var settings: AnswerSettings
    var timer: Scheduled<Void>?
    var timerDue: Int64 = .max
    var isConnected = false
    var hasEnded = false

    init(
        number: Int, id: String, rendition: Rendition, session: ViewerSession, joined: Int64, etag: String,
        settings: AnswerSettings
    ) {
        self.number = number
        self.id = id
        self.rendition = rendition
        self.session = session
        self.joined = joined
        self.etag = etag
        self.remoteUfrag = session.negotiated.remoteUfrag
        self.settings = settings
    }

    /// A feed, its packets, and its viewers.
    final class Rendition {
        let feed: WHEPFeed
        let stream: RenditionStream
        var viewers: [Int: Viewer] = [:]
        /// Task that ends the demand for the feed; set while it has no viewers and is still awake.
        var rest: Scheduled<Void>?

        init(feed: WHEPFeed, stream: RenditionStream) {
            self.feed = feed
            self.stream = stream
        }
    }
}
