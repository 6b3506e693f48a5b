import MediaTypes
import OpenSSLCrypto
import WHEP
import WebRTC

/// A rendition, its viewers' sessions, the viewers, and the networks between them, in simulated time.
final class Theater {
    /// How the network treats the datagrams of one viewer.
    struct Network {
        /// Share of media that is lost, and of what the viewer sends.
        var loss = 0.0
        var feedbackLoss = 0.0
        /// One way, in nanoseconds.
        var delay = ms(10)
    }

    /// A viewer and its session.
    final class Seat {
        let viewer: TestViewer
        let session: ViewerSession
        /// The viewer's present address.
        var address: ICEAddress
        var network = Network()
        /// Whether the viewer's program runs.
        var isRunning = true
        var changes: [SessionChange] = []
        /// Datagrams that the session has sent, with their times.
        var sent: [(at: Int64, bytes: [UInt8])] = []
        /// Whether the viewer reads its TCP connection; without effect on UDP.
        var isReading = true
        /// Bytes that wait in the connection.
        fileprivate(set) var waiting = 0
        fileprivate var toViewer: [(due: Int64, bytes: [UInt8])] = []
        fileprivate var toSession: [(due: Int64, bytes: [UInt8])] = []

        init(_ viewer: TestViewer, _ session: ViewerSession, _ address: ICEAddress) {
            (self.viewer, self.session, self.address) = (viewer, session, address)
        }
    }

    let stream: RenditionStream
    private(set) var now: Int64
    private(set) var seats: [Seat] = []
    private var random: SeededGenerator
    private var frame: Int64 = 0
    private var audioNumber: Int64 = 0
    /// Time between a frame of the program and its packet, in nanoseconds: what the encoder takes.
    let encoding = ms(100)
    private let start: Int64
    var frameSize: Int?
    /// Bytes from which on a connection is full.
    static let mostWaiting = 64 << 10
    static let wallClock: Int64 = 1_700_000_000_000_000_000

    init(seed: UInt64 = 1, now: Int64 = ms(5_000)) {
        self.random = SeededGenerator(seed)
        self.now = now
        self.start = now
        self.stream = RenditionStream(name: "720p", clock: ProgramClock(now: now, wallClock: Self.wallClock))
        self.stream.configure(TestProgram.configuration)
    }

    /// Lets a viewer POST its offer and send its first check.
    @discardableResult
    func join(
        _ viewer: TestViewer = TestViewer(), network: Network = Network(), offer: String? = nil,
        limits: ViewerSession.Limits = ViewerSession.Limits(), isTCP: Bool = false
    ) throws -> Seat {
        let identity = try TestViewer.identity.get()
        let own = ICECredentials(ufrag: "our\(self.seats.count)", password: "thepasswordofthissideofit")
        let settings = AnswerSettings(
            credentials: own,
            fingerprint: SDPFingerprint(algorithm: identity.fingerprint.algorithm, bytes: identity.fingerprint.bytes),
            candidates: [.init(address: "192.0.2.1", port: 8189)], sessionID: 1)
        let sources = ViewerSources(video: 100, videoRepair: 101, audio: 102, canonicalName: "cname")
        let (negotiated, answer) = try ViewerNegotiation.answer(
            to: Array((offer ?? viewer.offer()).utf8), program: .init(hasVideo: true, hasAudio: true, profile: 0x42),
            sources: sources, settings: settings)
        try viewer.accept(answer: answer, tracks: negotiated.tracks)
        let session = try ViewerSession(
            negotiated, credentials: own, identity: identity, sources: sources,
            random: (self.random.next(), self.random.next()), now: self.now, limits: limits, timer: .long)
        let seat = Seat(
            viewer, session, ICEAddress(ipv4: 0xC000_0202, port: UInt16(6_000 + self.seats.count), isTCP: isTCP))
        seat.network = network
        self.seats.append(seat)
        seat.toSession.append((self.now + network.delay, viewer.check()))
        return seat
    }

    /// Sends a datagram of the viewer.
    func send(_ datagram: [UInt8], from seat: Seat) {
        guard !datagram.isEmpty, !self.isLost(seat.network.feedbackLoss) else { return }
        seat.toSession.append((self.now + seat.network.delay, datagram))
    }

    private func isLost(_ share: Double) -> Bool { share > 0 && Double.random(in: 0..<1, using: &self.random) < share }

    /// Lets time pass in steps of a millisecond.
    func run(seconds: Double, each step: (Theater) -> Void = { _ in }) {
        let end = self.now + Int64(seconds * 1e9)
        while self.now < end {
            self.now += ms(1)
            self.program()
            for seat in self.seats { self.advance(seat) }
            step(self)
        }
    }

    private func program() {
        var isNew = false
        while self.start + TestProgram.time(ofFrame: self.frame) + self.encoding <= self.now {
            self.stream.receive(TestProgram.frame(self.frame, size: self.frameSize), now: self.now)
            self.frame += 1
            isNew = true
        }
        while self.start + self.audioNumber * ms(20) + ms(25) <= self.now {
            self.stream.receive(TestProgram.audioPacket(self.audioNumber), now: self.now)
            self.audioNumber += 1
            isNew = true
        }
        guard isNew else { return }
        for seat in self.seats {
            var output = ViewerOutput()
            seat.session.send(self.stream, now: self.now, into: &output)
            self.take(output, seat)
        }
    }

    private func advance(_ seat: Seat) {
        var output = ViewerOutput()
        if let due = seat.session.deadline, due <= self.now {
            seat.session.advance(self.stream, to: self.now, into: &output)
        }
        for (due, bytes) in seat.toSession where due <= self.now {
            var bytes = bytes
            if let message = STUNMessage(bytes), message.kind == .success {
                seat.session.receive(answer: message, from: seat.address, self.stream, now: self.now, into: &output)
            } else if let check = STUNMessage(bytes) {
                seat.session.receive(check, from: seat.address, self.stream, now: self.now, into: &output)
            } else {
                seat.session.receive(&bytes, from: seat.address, self.stream, now: self.now, into: &output)
            }
        }
        seat.toSession.removeAll { $0.due <= self.now }
        self.take(output, seat)
        guard seat.isRunning else { return }
        // As clients do, until they are connected.
        if !seat.viewer.isConnected, self.now % ms(50) == 0 { self.send(seat.viewer.check(), from: seat) }
        if seat.isReading, seat.waiting > 0 {
            seat.waiting = 0
            seat.session.setFull(false, seat.address, now: self.now)
            var output = ViewerOutput()
            seat.session.send(self.stream, now: self.now, into: &output)
            self.take(output, seat)
        }
        guard seat.isReading else { return self.report(seat) }
        let arrived = seat.toViewer.filter { $0.due <= self.now }
        seat.toViewer.removeAll { $0.due <= self.now }
        for (_, bytes) in arrived {
            for answer in seat.viewer.receive(bytes, now: self.now) { self.send(answer, from: seat) }
        }
        self.report(seat)
    }

    private func report(_ seat: Seat) {
        for report in seat.viewer.advance(to: self.now) { self.send(report, from: seat) }
    }

    private func take(_ output: ViewerOutput, _ seat: Seat) {
        seat.changes += output.changes
        // What goes to another address is lost.
        for datagram in output.datagrams where datagram.address == seat.address {
            for part in datagram.parts {
                let bytes = Array(part)
                seat.sent.append((self.now, bytes))
                // Only media is lost, so that handshakes do not depend on the clock of OpenSSL.
                let kind = DatagramKind(bytes)
                if kind == .rtp, self.isLost(seat.network.loss) { continue }
                seat.toViewer.append((self.now + seat.network.delay, bytes))
                guard seat.address.isTCP, !seat.isReading else { continue }
                seat.waiting += bytes.count
                if seat.waiting > Self.mostWaiting { seat.session.setFull(true, seat.address, now: self.now) }
            }
        }
    }

    /// Sends checks of all running viewers, which keep their sessions alive.
    func check() {
        for seat in self.seats where seat.isRunning { seat.toSession.append((self.now, seat.viewer.check())) }
    }

    /// The number of the latest frame that the encoder has given out.
    var latestFrame: Int64 { self.frame - 1 }
}
