import MediaTypes
import NIOCore
import PipelineSpec
import RTMP
import WebRTC

/// One WHIP client, from its POST to its end. Bound to the event loop.
///
/// States: deciding (the POST waits for its answer) → connecting (201 was sent, ICE and DTLS follow) → publishing ⇄ silent
/// → ended; any → ended.
final class WebRTCPublisher: PublishingConnection {
    let number: Int
    /// Address of the HTTP client, `IP:PORT`.
    let remote: String
    let address: IPAddress?
    let port: Int
    /// Answers the POST; nil once it was answered.
    var answer: ((WHIPReply) -> Void)?
    /// `User-Agent` of the POST, at most 128 visible characters.
    let userAgent: String
    /// `Origin` of the POST.
    let origin: String?
    var key: RedactedKey?
    /// The key that later requests have to repeat; nil if the POST had it in its path. Secret.
    var sessionKey: String?
    /// The publish request whose key was accepted; nil once the client publishes or was refused.
    var request: PublishRequest?
    var source: SourceID?
    /// The webhook request about this client; nil unless its answer is awaited.
    var question: Task<Void, Never>?
    var session: WebRTCSession?
    /// The session's id in its URL; nil before the offer is answered. Secret.
    var sessionID: String?
    var answerSettings: AnswerSettings?
    /// Path and answer of the session, until the POST is answered; nil before and after.
    var pendingAnswer: (path: String, answer: String)?
    var etag = ""
    var remoteUfrag = ""
    var gate = WebRTCFrameGate()
    var seen: Set<TrackKind> = []
    var hasPublished = false
    var hasEnded = false
    var timer: Scheduled<Void>?
    /// When ``timer`` fires.
    var timerDue = Int64.max
    /// When the statistics are copied next.
    var nextReport: Int64 = 0
    private(set) var hub: SourceHub?
    private let listener: WebRTCListener

    init(
        _ listener: WebRTCListener, remote: SocketAddress?, origin: String?, userAgent: String?, number: Int,
        answer: @escaping (WHIPReply) -> Void
    ) {
        self.listener = listener
        self.number = number
        self.remote = remote.map(IngestServer.text) ?? "unknown"
        self.address = remote?.ipAddress.flatMap { IPAddress($0) }
        self.port = remote?.port ?? 0
        self.origin = origin
        self.userAgent = String(
            (userAgent ?? "").unicodeScalars.filter { (0x20...0x7E).contains($0.value) }.prefix(128))
        self.answer = answer
    }

    /// The client's program as its offer or its `User-Agent` names it; empty if neither does.
    var software: String { self.session?.negotiated.software ?? self.userAgent }

    func begin(_ hub: SourceHub) { self.hub = hub }

    /// Returns the hub that this client publishes to, and clears the property; nil if it does not publish.
    func takeHub() -> SourceHub? {
        defer { self.hub = nil }
        return self.hub
    }

    func refuse(_ refusal: PublishRefusal) { self.listener.refuse(self, refusal, reason: refusal.text) }

    /// Ends the connection because another server takes over. WHIP has no message that asks to reconnect: pages notice the
    /// close_notify.
    func handOver() -> Bool {
        self.refuse(.handedOver)
        return false
    }

    func giveWay() { self.listener.giveWay(self) }
    func crowdedOut() { self.listener.crowdedOut(self) }

    func setPaused(_ isPaused: Bool) {
        guard self.gate.isPaused != isPaused else { return }
        self.gate.isPaused = isPaused
        if !isPaused { self.listener.resumed(self) }
    }

    func requestKeyFrame() { self.listener.requestKeyFrames(self) }
}
