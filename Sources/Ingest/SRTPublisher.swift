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
    /// Loopback channel to its libsrt listener; nil until that is created.
    var relay: (any Channel)?
    var listener: SocketAddress?
    var feed: MPEGTSFeed?
    /// The webhook request, while it waits for the answer.
    var question: Task<Void, Never>?
    var source: SourceID?
    /// The request whose key was valid, until it publishes.
    var request: PublishRequest?
    private(set) var hub: SourceHub?
    var key: RedactedKey?
    var hasEnded = false
    /// It has sent a shutdown.
    var hasLeft = false
    private let door: SRTListener

    init(_ door: SRTListener, peer: SocketAddress, caller: SRTCaller, number: Int) {
        self.door = door
        self.peer = peer
        self.number = number
        self.remote = IngestServer.text(peer)
        self.address = peer.ipAddress.flatMap { IPAddress($0) }
        self.software = caller.software
    }

    func begin(_ hub: SourceHub) { self.hub = hub }

    /// Returns the hub that it publishes to, and clears it.
    func takeHub() -> SourceHub? {
        defer { self.hub = nil }
        return self.hub
    }

    func refuse(_ refusal: PublishRefusal) { self.door.refuse(self, refusal, reason: refusal.text) }
    /// SRT has no message for this: its encoders reconnect when they are cut off.
    func handOver() -> Bool {
        self.refuse(.ended)
        return false
    }

    func giveWay() { self.door.giveWay(self) }
    func crowdedOut() { self.door.drop(self, "too many connections that do not publish", .limitExceeded) }
    func setPaused(_ isPaused: Bool) { self.feed?.setPaused(isPaused) }
}
