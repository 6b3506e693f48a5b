import MediaTypes
import Testing
import WHEP
import WebRTC

@Suite("WebRTC viewer session over TCP")
struct ViewerStreamTests {
    @Test("a WebRTC viewer over TCP gets video and audio, and the session does not check its address")
    func media() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join(isTCP: true)
        theater.run(seconds: 2.5)
        #expect(seat.session.isConnected && seat.viewer.answeredChecks == 0)
        #expect(seat.viewer.frames.count > 60 && seat.viewer.audioPackets.count > 90)
        #expect(zip(seat.viewer.frames, seat.viewer.frames.dropFirst()).allSatisfy { $1.number == $0.number + 1 })
    }

    @Test(
        "a WebRTC viewer that stops reading TCP is sent no more than fits, and later goes on at a key frame; another viewer is not affected"
    )
    func full() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let (quick, slow) = (try theater.join(), try theater.join(isTCP: true))
        theater.run(seconds: 1)
        slow.isReading = false
        theater.run(seconds: 6)
        // The rest of a frame, audio and reports go beyond the limit, not seconds of media.
        #expect(slow.waiting > Theater.mostWaiting && slow.waiting < Theater.mostWaiting + 50_000, "\(slow.waiting)")
        #expect(slow.session.counters.skippedGroups >= 3, "\(slow.session.counters.skippedGroups)")
        #expect(slow.session.isConnected)
        let stop = theater.latestFrame
        slow.isReading = true
        theater.run(seconds: 3)
        let frames = slow.viewer.frames
        let gap = try #require(zip(frames, frames.dropFirst()).first { $1.number != $0.number + 1 })
        #expect(gap.1.isKey && gap.1.number >= stop - TestProgram.group && gap.1.number <= stop + TestProgram.group)
        #expect(zip(frames, frames.dropFirst()).count { $1.number != $0.number + 1 } == 1, "one gap")
        #expect(frames.last?.number == quick.viewer.frames.last?.number)
        #expect(slow.viewer.audioPackets.last?.number == quick.viewer.audioPackets.last?.number)
        let other = quick.viewer.frames
        #expect(zip(other, other.dropFirst()).allSatisfy { $1.number == $0.number + 1 && $1.at - $0.at < ms(60) })
    }

    @Test("a WebRTC viewer that does not read its TCP connection for 1.4 s gets every frame afterwards")
    func moment() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join(isTCP: true)
        theater.run(seconds: 1)
        seat.isReading = false
        theater.run(seconds: 1.4)
        #expect(seat.waiting > Theater.mostWaiting)
        seat.isReading = true
        theater.run(seconds: 1)
        let frames = seat.viewer.frames
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.number == $0.number + 1 })
        #expect(frames.last.map { $0.number >= theater.latestFrame - 2 } == true)
        #expect(seat.session.counters.skippedGroups == 0)
    }

    @Test("while a WebRTC viewer's TCP connection is full, its requests for lost packets are not answered")
    func requests() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join(isTCP: true)
        theater.run(seconds: 1)
        let sequence = try #require(seat.viewer.rtp.last { $0.ssrc == 100 }).sequence
        seat.session.setFull(true, seat.address, now: theater.now)
        theater.send(seat.viewer.rtcp { $0.nack(sender: 1, media: 100, lost: [sequence]) }, from: seat)
        theater.run(seconds: 0.1)
        #expect(seat.session.counters.retransmitted == 0)
        seat.session.setFull(false, seat.address, now: theater.now)
        theater.send(seat.viewer.rtcp { $0.nack(sender: 1, media: 100, lost: [sequence]) }, from: seat)
        theater.run(seconds: 0.1)
        #expect(seat.session.counters.retransmitted == 1)
    }

    @Test(
        "a WebRTC viewer whose TCP connection has closed is sent nothing, and its session ends after 30 s without another connection"
    )
    func lost() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join(isTCP: true)
        theater.run(seconds: 1)
        seat.session.lost(seat.address)
        let packets = seat.session.counters.packets
        seat.isRunning = false
        theater.run(seconds: 28)
        #expect(seat.session.counters.packets == packets && seat.session.end == nil)
        theater.run(seconds: 4)
        #expect(seat.session.end == .consentLost)
    }
}
