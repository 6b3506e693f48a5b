import Admission
import LibAV
import Logging
import MediaTypes
import NIOCore
import PipelineSpec
import RTMP

/// One caller of the SRT door, from its conclusion to its end. Bound to the event loop.
///
/// States: deciding → joining (a listener of its own is made for it) → publishing → ended; any → ended.
final class SRTPublisher: PublishingConnection {
    let number: Int
    let remote: String
    let peer: SocketAddress
    let address: IPAddress?
    let software: String
    /// Towards its listener; nil until that is made.
    var relay: (any Channel)?
    var listener: SocketAddress?
    var feed: TransportFeed?
    /// To the webhook, while it waits for the answer.
    var question: Task<Void, Never>?
    var source: SourceID?
    /// What its key was right for, until it publishes.
    var request: PublishRequest?
    private(set) var hub: SourceHub?
    var key: RedactedKey?
    var hasEnded = false
    /// It has said that it goes.
    var hasLeft = false
    private let door: SRTDoor

    init(_ door: SRTDoor, peer: SocketAddress, caller: SRTCaller, number: Int) {
        self.door = door
        self.peer = peer
        self.number = number
        self.remote = IngestServer.text(peer)
        self.address = peer.ipAddress.flatMap { IPAddress($0) }
        self.software = caller.software
    }

    func begin(_ hub: SourceHub) { self.hub = hub }

    /// The hub it published into, which it does no more.
    func takeHub() -> SourceHub? {
        defer { self.hub = nil }
        return self.hub
    }

    func refuse(_ refusal: PublishRefusal) { self.door.refuse(self, refusal, reason: refusal.text) }
    /// SRT has no word for it: its encoders connect anew when they are cut off.
    func handOver() -> Bool {
        self.refuse(.ended)
        return false
    }

    func giveWay() { self.door.giveWay(self) }
    func crowdedOut() { self.door.drop(self, "too many connections that do not publish", .limitExceeded) }
    func setPaused(_ isPaused: Bool) { self.feed?.setPaused(isPaused) }
}
