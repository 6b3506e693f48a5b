import Ingest
import MediaTypes
import RTMP

/// A publisher without a connection. It is admitted, kicked and taken over like one over RTMP, and its packets enter
/// its source where the RTMP handler delivers what it has read.
final class ScriptedPublisher: PublishingConnection, @unchecked Sendable {
    // @unchecked Sendable: mutable state is used only on the server's event loop, inside `IngestServer.perform(_:)`.

    /// The server refused the publish.
    struct Refused: Error, CustomStringConvertible {
        let refusal: PublishRefusal
        var description: String { self.refusal.text }
    }

    let number: Int
    let remote = "192.0.2.1:1935"
    private let core: IngestCore
    private var hub: SourceHub?
    /// The kinds of media it has sent.
    private var sent: Set<TrackKind> = []

    private init(_ core: IngestCore) {
        self.core = core
        self.number = core.number()
    }

    /// Publishes with a stream key.
    ///
    /// - Throws: ``Refused``; the event is `ingest.refused`.
    static func connect(_ key: String, to server: IngestServer) throws -> ScriptedPublisher {
        guard let address = StreamAddress(app: "live", streamName: key) else { throw Refused(refusal: .denied) }
        return try server.perform { core in
            let publisher = ScriptedPublisher(core)
            try publisher.publish(
                PublishRequest(id: 1, address: address, tcURL: "rtmp://test/live", flashVersion: "script"))
            return publisher
        }
    }

    private func publish(_ request: PublishRequest) throws {
        switch self.core.identify(request) {
        case .deny(let refusal, let reason): throw self.refused(refusal, reason)
        case .source(let source):
            if let refusal = self.core.refusal(of: source) {
                self.core.giveBack(request)
                throw self.refused(refusal, "\(source) refuses publishers for some time")
            }
            guard self.core.mayPublish(source) else {
                self.core.giveBack(request)
                throw self.refused(.tooOften, "\(source) was published too often")
            }
            switch self.core.claim(source, by: self) {
            case .deny(let refusal, let reason):
                self.core.giveBack(request)
                throw self.refused(refusal, reason ?? refusal.text)
            case .accept(let hub, let isTakeover):
                self.hub = hub
                let info = PublisherInfo(encoder: "script", remote: self.remote, isTakeover: isTakeover)
                self.core.emit(.publishing(source, info))
            }
        }
    }

    private func refused(_ refusal: PublishRefusal, _ reason: String) -> Refused {
        self.core.emit(.refused(remote: self.remote, key: nil, reason: reason, code: refusal.errorCode))
        return Refused(refusal: refusal)
    }

    // MARK: From any thread

    /// Sends items to the source. When it returns, the decoder has them.
    ///
    /// - Returns: `false` if the publication has ended and nothing was sent.
    func send(_ items: [SourceItem], to server: IngestServer) throws -> Bool {
        try server.perform { _ in self.handOut(items) }
    }

    /// Cuts the connection.
    func drop(from server: IngestServer) throws {
        try server.perform { _ in
            self.end { self.core.emit(.lost($0, reason: "connection closed")) }
        }
    }

    // MARK: On the event loop

    private func handOut(_ items: [SourceItem]) -> Bool {
        guard let hub = self.hub else { return false }
        hub.receive(items)
        for item in items {
            switch item {
            case .configuration(let parameters): self.core.emit(.configuration(hub.source, parameters))
            case .packet(let packet):
                guard self.sent.insert(packet.kind).inserted else { continue }
                self.core.emit(packet.kind == .video ? .firstVideo(hub.source) : .firstAudio(hub.source))
            case .end: break
            }
        }
        return true
    }

    /// - Parameter isCut: True if packets still queued must not be shown.
    private func end(isCut: Bool = false, _ tell: (SourceID) -> Void) {
        guard let hub = self.hub else { return }
        self.hub = nil
        if isCut { hub.cut() }
        hub.receive([.end])
        self.core.release(hub.source, by: self)
        tell(hub.source)
    }

    func refuse(_ refusal: PublishRefusal) {
        self.end(isCut: refusal == .kicked) { self.core.emit(.lost($0, reason: refusal.text)) }
    }

    func handOver() -> Bool {
        self.refuse(.handedOver)
        return false
    }

    func giveWay() { self.end { self.core.emit(.takenOver($0)) } }
    func crowdedOut() {}
    func setPaused(_ isPaused: Bool) {}
}
