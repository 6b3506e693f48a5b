import MediaTypes
import NIOCore
import PipelineSpec
import RTMP

/// One SRT caller, from its conclusion to its end. Bound to the event loop.
///
/// States: deciding → joining (a libsrt listener is created for it) → publishing → ended; any → ended.
final class SRTPublisher: PublishingConnection {
    let number: Int
    let remote: String
    let peer: SocketAddress
    let address: IPAddress?
    let software: String
    /// Loopback channel to the caller's libsrt listener; nil until the listener is created.
    var relay: (any Channel)?
    var listener: SocketAddress?
    var feed: MPEGTSFeed?
    /// The webhook request about this caller; nil unless its answer is awaited.
    var question: Task<Void, Never>?
    var source: SourceID?
    /// The publish request whose key was accepted; nil once the caller publishes or was refused.
    var request: PublishRequest?
    private(set) var hub: SourceHub?
    var key: RedactedKey?
    var hasEnded = false
    /// True if the caller has sent an SRT shutdown packet.
    var hasLeft = false
    private let owner: SRTListener

    init(_ owner: SRTListener, peer: SocketAddress, caller: SRTCaller, number: Int) {
        self.owner = owner
        self.peer = peer
        self.number = number
        self.remote = IngestServer.text(peer)
        self.address = peer.ipAddress.flatMap { IPAddress($0) }
        self.software = caller.software
    }

    func begin(_ hub: SourceHub) { self.hub = hub }

    /// Returns the hub that this caller publishes to, and clears the property; nil if the caller does not publish.
    func takeHub() -> SourceHub? {
        defer { self.hub = nil }
        return self.hub
    }

    func refuse(_ refusal: PublishRefusal) { self.owner.refuse(self, refusal, reason: refusal.text) }
    /// Ends the connection because another server takes over. SRT has no message that asks to reconnect; SRT encoders
    /// reconnect when they are cut off.
    func handOver() -> Bool {
        self.refuse(.handedOver)
        return false
    }

    func giveWay() { self.owner.giveWay(self) }
    func crowdedOut() { self.owner.drop(self, "there are too many connections that do not publish", .limitExceeded) }
    func setPaused(_ isPaused: Bool) { self.feed?.setPaused(isPaused) }
}
