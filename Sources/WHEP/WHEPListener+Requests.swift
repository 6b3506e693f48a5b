import MediaTypes
import NIOCore
import OpenSSLCrypto
import PipelineSpec
import WebRTC

/// The HTTP requests of viewers. Called on the event loop; nothing here waits.
extension WHEPListener {
    /// Answers a request.
    func respond(to request: WHIPRequest, client: IPAddress?) -> WHIPReply {
        if ["POST", "PATCH", "DELETE"].contains(request.method),
            !self.posts.take(at: client, now: self.clock.now())
        {
            if request.method == "POST" { self.refused &+= 1 }
            return .error(.tooManyRequests(retryAfter: 5))
        }
        let decision = WHEPRequests.decision(on: request) { id in
            self.viewers[id].map { ($0.etag, $0.remoteUfrag) }
        }
        switch decision {
        case .reply(let reply): return reply
        case .play(let name, let offer):
            do throws(WHIPError) { return try self.play(name, offer) } catch {
                self.refused &+= 1
                return .error(error)
            }
        case .delete(let id):
            self.viewers[id].map { self.close($0) }
            return WHEPRequests.deleted
        case .restart(let id, let remote): return self.restart(id, remote)
        }
    }

    private func play(_ name: String?, _ offer: [UInt8]) throws(WHIPError) -> WHIPReply {
        let name = name ?? self.settings.rendition
        guard let rendition = self.renditions.first(where: { $0.feed.name == name }) else { throw .noSuchRendition }
        guard !self.isStopped, !rendition.feed.isOver else { throw .roomEnded }
        guard rendition.feed.isLive else { throw .notLiveYet }
        if self.viewers.count >= self.settings.maxViewers { self.crowdOut() }
        guard self.viewers.count < self.settings.maxViewers else {
            throw .overloaded("the room has reached its maximum number of WebRTC viewers", retryAfter: 5)
        }
        // Before the answer, so that the profile of the stream is known, and audio is encoded from now on.
        self.wake(rendition)
        do throws(WHIPError) {
            let (viewer, path, answer) = try self.viewer(of: rendition, offer)
            self.add(viewer)
            return WHEPRequests.created(path: path, etag: viewer.etag, answer: answer)
        } catch {
            self.restLater(rendition)
            throw error
        }
    }

    /// Time in nanoseconds for which a viewer that is not connected keeps its place when all places are taken.
    private static let joiningTime: Int64 = 2_000_000_000

    /// Ends the session that has waited longest for its viewer, if that is more than ``joiningTime``, so that offers without
    /// viewers do not keep others out.
    private func crowdOut() {
        let now = self.clock.now()
        let waiting = self.viewers.values.filter { !$0.isConnected && now &- $0.joined > Self.joiningTime }
        waiting.min { $0.joined < $1.joined }.map { self.close($0) }
    }

    private func viewer(
        of rendition: Viewer.Rendition, _ offer: [UInt8]
    ) throws(WHIPError) -> (viewer: Viewer, path: String, answer: String) {
        guard let credentials = ICECredentials(random: Self.random(ICECredentials.randomBytes)),
            let place = WHEPRoute.session(random: Self.random(WHEPRoute.idBytes))
        else { throw .overloaded("no random numbers", retryAfter: 5) }
        let settings = AnswerSettings(
            credentials: credentials,
            fingerprint: SDPFingerprint(
                algorithm: self.identity.fingerprint.algorithm, bytes: self.identity.fingerprint.bytes),
            candidates: self.candidates, sessionID: UInt64.random(in: 0...(.max >> 2)))
        let sources = Self.sources()
        let (negotiated, answer) = try ViewerNegotiation.answer(
            to: offer,
            program: ViewerNegotiation.Program(
                hasVideo: rendition.feed.hasVideo, hasAudio: rendition.feed.hasAudio, profile: rendition.stream.profile),
            sources: sources, settings: settings)
        let session: ViewerSession
        do throws(MediaError) {
            session = try ViewerSession(
                negotiated, credentials: credentials, identity: self.identity, sources: sources,
                random: (UInt64.random(in: 0...(.max)), UInt64.random(in: 0...(.max))), now: self.clock.now())
        } catch {
            throw .noSession(error)
        }
        self.nextNumber += 1
        let viewer = Viewer(
            number: self.nextNumber, id: place.id, rendition: rendition, session: session, joined: self.clock.now(),
            etag: Self.makeETag(), settings: settings)
        return (viewer, place.path, answer)
    }

    private func restart(_ id: String, _ remote: ICECredentials) -> WHIPReply {
        guard let viewer = self.viewers[id],
            let credentials = ICECredentials(random: Self.random(ICECredentials.randomBytes))
        else { return .error(.noSuchSession) }
        viewer.settings.credentials = credentials
        viewer.session.restart(credentials: credentials, remote: remote)
        viewer.remoteUfrag = remote.ufrag
        viewer.etag = Self.makeETag()
        self.routes.find(viewer, by: viewer.session.ufrags)
        return WHEPRequests.restarted(
            etag: viewer.etag,
            fragment: SDPFragment.answer(settings: viewer.settings, session: viewer.session.negotiated))
    }

    private static func makeETag() -> String { "\"\(Hexadecimal.text(Self.random(8)))\"" }

    /// Three different identifiers, and a canonical name of 96 random bits (RFC 7022 §4.2).
    private static func sources() -> ViewerSources {
        let first = UInt32.random(in: 1...(.max >> 2)) * 4
        return ViewerSources(
            video: first, videoRepair: first + 1, audio: first + 2, canonicalName: Hexadecimal.text(Self.random(12)))
    }

    private static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
