import MediaTypes
import Testing
import WHEP
import WebRTC

@Suite("WebRTC viewer session")
struct ViewerSessionTests {
    @Test("a viewer in either DTLS role gets video and audio", arguments: [false, true])
    func media(isDTLSServer: Bool) throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join(TestViewer(isDTLSServer: isDTLSServer))
        theater.run(seconds: 2.5)
        #expect(seat.session.isConnected && seat.session.cipher == "AEAD_AES_128_GCM", "\(seat.viewer.failure ?? "")")
        #expect(seat.changes.first == .known(seat.address) && seat.changes.last == .connected)
        #expect(seat.viewer.frames.count > 60 && seat.viewer.audioPackets.count > 90)
        #expect(zip(seat.viewer.frames, seat.viewer.frames.dropFirst()).allSatisfy { $1.number == $0.number + 1 })
        #expect(
            zip(seat.viewer.audioPackets, seat.viewer.audioPackets.dropFirst()).allSatisfy {
                $1.number == $0.number + 1
            })
        #expect(seat.viewer.forged == 0)
        let configuration = seat.viewer.items.lazy.compactMap {
            if case .configuration(let parameters) = $0, parameters.codec == .h264 { parameters } else { nil }
        }.first
        #expect(configuration?.configuration == TestProgram.configuration.configuration)
    }

    @Test("a viewer that joins between key frames begins with the cached key frame at once, and then is not behind")
    func join() throws {
        let theater = Theater()
        // Two thirds of a group after its key frame.
        theater.run(seconds: 1.9)
        let seat = try theater.join()
        let begin = theater.now
        theater.run(seconds: 1)
        let frames = seat.viewer.frames
        let first = try #require(frames.first)
        #expect(first.isKey && first.number == 32)
        #expect(first.at - begin < ms(150), "\((first.at - begin) / 1_000_000) ms")
        // All of the group arrives within a moment, and its times end at the present.
        let caughtUp = try #require(frames.first { $0.number == 50 })
        #expect(caughtUp.at - first.at < ms(60))
        let present = try #require(frames.last)
        // Time line of the player: what was shown first, and what is shown at the end, differ by the time in between.
        let shift = (present.pts - first.pts) - (present.at - first.at)
        #expect(abs(shift) < ms(100), "\(shift / 1_000_000) ms behind")
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.pts > $0.pts })
    }

    @Test("by the sender reports to a viewer, audio and video are in sync within 1 ms")
    func lipSync() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        theater.run(seconds: 4)
        let reports = seat.viewer.reports.compactMap {
            if case .senderReport(let report, _) = $0 { report } else { nil }
        }
        #expect(Set(reports.map(\.ssrc)) == [100, 102])
        #expect((6...12).contains(reports.count), "\(reports.count)")
        // The instant of the last packet of each track by its reports, less the time of the same packet in the program.
        func start(_ ssrc: UInt32, rate: Int64, _ time: (RTPPacket) -> Int64?) throws -> Int64 {
            let report = try #require(reports.last { $0.ssrc == ssrc })
            let packet = try #require(seat.viewer.rtp.last { $0.ssrc == ssrc && $0.marker == (ssrc == 100) })
            let step = Int64(Int32(bitPattern: packet.timestamp &- report.timestamp))
            return try NTPTime.nanoseconds(report.ntp) + step * 1_000_000_000 / rate - #require(time(packet))
        }
        let picture = try start(100, rate: 90_000) { _ in
            seat.viewer.frames.last.map { TestProgram.time(ofFrame: $0.number) }
        }
        let audio = try start(102, rate: 48_000) { _ in seat.viewer.audioPackets.last.map { $0.number * ms(20) } }
        #expect(abs(picture - audio) < ms(1), "\(picture - audio) ns")
        // NTP of a report is the wall clock.
        let ntp = NTPTime.unix(NTPTime.nanoseconds(try #require(reports.last).ntp))
        #expect((0..<ms(10_000)).contains(ntp - Theater.wallClock))
        let names = seat.viewer.reports.compactMap { if case .sourceDescription(let names) = $0 { names } else { nil } }
        #expect(!names.isEmpty && names.joined().allSatisfy { $0.name == Array("cname".utf8) })
    }

    @Test(
        "with retransmission, a viewer with 5 % loss and 60 ms round trip misses at most one frame in 30 s",
        arguments: [(1, true), (2, true), (3, true), (1, false)])
    func repair(seed: UInt64, hasRtx: Bool) throws {
        let theater = Theater(seed: seed)
        theater.run(seconds: 1.2)
        let viewer = TestViewer(hasRtx: hasRtx)
        let seat = try theater.join(viewer, network: .init(loss: 0.05, feedbackLoss: 0, delay: ms(30)))
        for _ in 0..<10 {
            theater.run(seconds: 3)
            theater.check()
        }
        let numbers = viewer.frames.map(\.number)
        let (first, last) = (try #require(numbers.first), try #require(numbers.last))
        let missing = Set(first...max(first, last)).subtracting(numbers)
        #expect(missing.count <= 1, "\(missing.sorted())")
        #expect(numbers.count > 850)
        let counters = seat.session.counters
        #expect(counters.retransmitted > 100 && counters.requested >= counters.retransmitted)
        #expect(counters.lost > 50)
        #expect(viewer.forged == 0)
        let roundTrip = try #require(seat.session.roundTrip)
        #expect((ms(58)...ms(70)).contains(roundTrip), "\(roundTrip)")
    }

    @Test(
        "a viewer's 50 key frame requests per second cause no key frame, less than 15 % more data, and affect no other viewer"
    )
    func pictureLossFlood() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let (quiet, loud) = (try theater.join(), try theater.join())
        theater.run(seconds: 1)
        var bytes = [quiet.session.counters.bytes, loud.session.counters.bytes]
        theater.run(seconds: 10) { theater in
            guard theater.now % ms(20) == 0 else { return }
            theater.send(loud.viewer.rtcp { $0.pictureLoss(sender: 1, media: 100) }, from: loud)
        }
        bytes = [quiet.session.counters.bytes - bytes[0], loud.session.counters.bytes - bytes[1]]
        #expect(loud.session.counters.pictureLossRequests > 480)
        #expect(
            quiet.viewer.frames.map(\.number)
                == Array(32...theater.latestFrame).prefix(quiet.viewer.frames.count).map { $0 })
        // No key frame outside of the grid.
        #expect(quiet.viewer.frames.allSatisfy { $0.isKey == $0.number.isMultiple(of: 32) })
        // The loud one gets a group twice at most.
        #expect(Double(bytes[1]) < 1.15 * Double(bytes[0]), "\(bytes)")
        #expect(loud.viewer.frames.last?.number == quiet.viewer.frames.last?.number)
    }

    @Test("a viewer that lost its first key frame and requests one gets the cached GOP again")
    func secondGroup() throws {
        let theater = Theater()
        theater.run(seconds: 1.2)
        // Nothing of the first group arrives, and no repair.
        let seat = try theater.join(network: .init(loss: 1, feedbackLoss: 0, delay: ms(10)))
        theater.run(seconds: 0.2)
        #expect(seat.session.isConnected && seat.viewer.frames.isEmpty)
        seat.network.loss = 0
        theater.run(seconds: 0.3)
        theater.send(seat.viewer.rtcp { $0.pictureLoss(sender: 1, media: 100) }, from: seat)
        theater.run(seconds: 0.1)
        let first = try #require(seat.viewer.frames.first)
        #expect(first.number == 32 && first.isKey)
        theater.run(seconds: 1)
        let frames = seat.viewer.frames
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.number == $0.number + 1 && $1.pts > $0.pts })
    }

    @Test("a viewer that sends nothing gets no media until it returns; another viewer is not affected")
    func stalled() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let (awake, stalled) = (try theater.join(), try theater.join())
        theater.run(seconds: 1)
        stalled.isRunning = false
        for _ in 0..<5 {
            theater.run(seconds: 2)
            theater.check()
        }
        let packets = stalled.session.counters.packets
        theater.run(seconds: 2)
        #expect(stalled.session.counters.packets == packets)
        #expect(stalled.session.end == nil)
        #expect(Double(awake.viewer.frames.count) > 30 * 12.9)
        // It continues: first with the latest key frame.
        stalled.isRunning = true
        theater.check()
        theater.run(seconds: 1)
        let last = try #require(stalled.viewer.frames.last)
        #expect(last.number >= theater.latestFrame - 2)
    }

    @Test("a session ends if its viewer stops sending and does not return within 30 s")
    func consent() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        theater.run(seconds: 1)
        seat.isRunning = false
        theater.run(seconds: 32)
        #expect(seat.session.end == .consentLost)
        #expect(seat.changes.last == .ended(.consentLost))
        #expect(seat.session.deadline == nil)
    }

    @Test("a viewer with 12 % loss gets all GOPs, unless its REMB for the video is also too low")
    func narrow() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seats = try (0..<3).map { _ in try theater.join(network: .init(loss: 0.12, feedbackLoss: 0, delay: ms(10)))
        }
        for _ in 0..<5 {
            theater.run(seconds: 3) { theater in
                guard theater.now % ms(1_000) == 0 else { return }
                // The last one names another source.
                for (seat, source) in [(seats[1], 100), (seats[2], 99)] as [(Theater.Seat, UInt32)] {
                    let estimate = seat.viewer.rtcp { $0.remb(sender: 1, bitRate: 1_000, ssrcs: [source]) }
                    theater.send(estimate, from: seat)
                }
            }
            theater.check()
        }
        #expect(seats.map { $0.session.counters.skippedGroups > 0 } == [false, true, false])
    }

    @Test(
        "a viewer with 40 % loss misses GOPs, and catches up once the loss ends; another viewer is not affected")
    func congestion() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let (good, bad) = (
            try theater.join(), try theater.join(network: .init(loss: 0.4, feedbackLoss: 0, delay: ms(10)))
        )
        for _ in 0..<5 {
            theater.run(seconds: 3)
            theater.check()
        }
        #expect(bad.session.counters.skippedGroups > 0)
        #expect(Double(good.viewer.frames.count) > 30 * 14.5)
        bad.network.loss = 0
        for _ in 0..<4 {
            theater.run(seconds: 3)
            theater.check()
        }
        #expect(bad.viewer.frames.last?.number == good.viewer.frames.last?.number)
    }

    @Test("frames of 100 kB are sent to a viewer in portions below 220 kB, and all of them arrive")
    func paced() throws {
        let theater = Theater()
        theater.frameSize = 100_000
        theater.run(seconds: 2)
        let seat = try theater.join()
        theater.run(seconds: 3)
        // 24 Mbit/s: more than the least rate of the pace, so that ten times the stream's rate counts.
        let frames = seat.viewer.frames
        #expect(frames.count > 90)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.number == $0.number + 1 })
        // Never more than the burst and a portion at one moment.
        let largest = Dictionary(grouping: seat.sent, by: \.at).values.map { $0.reduce(0) { $0 + $1.bytes.count } }
            .max()
        #expect((largest ?? 0) < 220_000, "\(largest ?? 0)")
        #expect(seat.session.counters.skippedGroups == 0)
    }

    @Test("nothing is sent before a valid STUN check; packets from other addresses are counted and ignored")
    func strangers() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        var output = ViewerOutput()
        let stranger = ICEAddress(ipv4: 0xC000_0299, port: 6_000)
        var bytes = [UInt8](repeating: 0x80, count: 100)
        seat.session.receive(&bytes, from: stranger, theater.stream, now: theater.now, into: &output)
        bytes = [22, 254, 253] + [UInt8](repeating: 0, count: 60)
        seat.session.receive(&bytes, from: stranger, theater.stream, now: theater.now, into: &output)
        let check = try #require(STUNMessage(seat.viewer.check(password: "wrong password of 22 characters")))
        seat.session.receive(check, from: stranger, theater.stream, now: theater.now, into: &output)
        #expect(output.datagrams.isEmpty && seat.session.counters.refused == 3)
    }

    @Test("after the handshake, repeated, forged and unencrypted packets of a viewer are refused")
    func forged() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        theater.run(seconds: 1)
        let before = seat.session.counters.refused
        var report = seat.viewer.rtcp { $0.pictureLoss(sender: 1, media: 100) }
        theater.send(report, from: seat)
        theater.send(report, from: seat)
        report[report.count - 6] ^= 1
        theater.send(report, from: seat)
        var writer = RTCPWriter()
        writer.pictureLoss(sender: 1, media: 100)
        theater.send(writer.bytes, from: seat)
        theater.send([0x80, 96] + [UInt8](repeating: 0, count: 40), from: seat)
        theater.run(seconds: 0.1)
        #expect(seat.session.counters.pictureLossRequests == 1)
        #expect(seat.session.counters.refused == before + 4)
        #expect(seat.session.isConnected)
    }

    @Test("NACKs for all sequence numbers every 100 ms cause at most 2,600 retransmissions in 2 s")
    func hostileRequests() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        theater.run(seconds: 1)
        let before = seat.session.counters
        theater.run(seconds: 2) { theater in
            guard theater.now % ms(100) == 0 else { return }
            for first in stride(from: 0, to: 65_535, by: 4_000) {
                let numbers = (0..<4_000).compactMap { UInt16(exactly: first + $0) }
                theater.send(seat.viewer.rtcp { $0.nack(sender: 1, media: 100, lost: numbers) }, from: seat)
            }
            theater.send(seat.viewer.rtcp { $0.nack(sender: 1, media: 101, lost: [1, 2, 3]) }, from: seat)
        }
        let resent = seat.session.counters.retransmitted - before.retransmitted
        #expect(resent <= 2_600, "\(resent)")
        #expect(seat.viewer.frames.last?.number ?? 0 >= theater.latestFrame - 2)
    }

    @Test(
        "a viewer that moves gets no video at its new address until it has answered a STUN check there; then video continues"
    )
    func moved() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        theater.run(seconds: 1)
        seat.address = ICEAddress(ipv4: 0xC000_0203, port: 7_000)
        // Until what is on the way has arrived.
        theater.run(seconds: 0.05)
        let before = (sent: seat.sent.count, frames: seat.viewer.frames.count)
        theater.run(seconds: 0.3)
        #expect(seat.viewer.frames.count == before.frames && seat.sent.count == before.sent)
        theater.check()
        theater.run(seconds: 0.3)
        #expect(seat.viewer.answeredChecks == 1)
        #expect(seat.viewer.frames.last?.number ?? 0 >= theater.latestFrame - 2)
        theater.run(seconds: 1)
        #expect(seat.viewer.frames.last?.number ?? 0 >= theater.latestFrame - 2)
    }

    @Test("a forged sender address of a viewer gets no more bytes than came from it")
    func forgedAddress() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        theater.run(seconds: 1)
        // Checks with the right password, sent with the address of a victim, who answers nothing.
        let victim = ICEAddress(ipv4: 0xC000_02FE, port: 53)
        var (received, sent) = (0, 0)
        for _ in 0..<20 {
            var output = ViewerOutput()
            let bytes = seat.viewer.check()
            received += bytes.count
            let check = try #require(STUNMessage(bytes))
            seat.session.receive(check, from: victim, theater.stream, now: theater.now, into: &output)
            var report = seat.viewer.rtcp { $0.receiverReport(ssrc: 1, blocks: []) }
            received += report.count
            seat.session.receive(&report, from: victim, theater.stream, now: theater.now, into: &output)
            theater.stream.receive(TestProgram.frame(theater.latestFrame + 1), now: theater.now)
            seat.session.send(theater.stream, now: theater.now, into: &output)
            seat.session.advance(theater.stream, to: theater.now, into: &output)
            sent += output.datagrams.filter { $0.address == victim }.reduce(0) { $0 + $1.bytes.count }
            #expect(sent <= received)
        }
        #expect(sent > 0)
        // A forged answer proves nothing.
        var output = ViewerOutput()
        var writer = STUNWriter(.success, transactionID: [UInt8](repeating: 7, count: 12))
        let answer = try #require(STUNMessage(writer.finished()))
        seat.session.receive(answer: answer, from: victim, theater.stream, now: theater.now, into: &output)
        seat.session.send(theater.stream, now: theater.now, into: &output)
        #expect(output.datagrams.isEmpty)
    }

    @Test("close_notify of the viewer ends the session, and close_notify of the session closes the viewer's connection")
    func close() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let (first, second) = (try theater.join(), try theater.join())
        theater.run(seconds: 1)
        for datagram in first.viewer.close() { theater.send(datagram, from: first) }
        theater.run(seconds: 0.1)
        #expect(first.session.end == .closedByPeer)
        var output = ViewerOutput()
        second.session.close(into: &output)
        #expect(output.datagrams.count == 1 && output.changes == [.ended(.closed)])
        _ = second.viewer.receive(output.datagrams[0].bytes, now: theater.now)
        #expect(second.viewer.isClosed)
    }

    @Test("a viewer whose certificate has another fingerprint gets no media")
    func fingerprint() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let viewer = TestViewer()
        let wrong = "sha-256 " + (0..<32).map { _ in "AB" }.joined(separator: ":")
        let seat = try theater.join(viewer, offer: viewer.offer(fingerprint: wrong))
        theater.run(seconds: 1)
        #expect(!seat.session.isConnected && seat.viewer.rtp.isEmpty)
        if case .handshakeFailed? = seat.session.end {} else { Issue.record("\(String(describing: seat.session.end))") }
    }

    @Test("a session without STUN checks ends after 10 s, and one without a handshake 10 s after its first check")
    func timeouts() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let (silent, stopped) = (try theater.join(network: .init(delay: ms(60_000))), try theater.join())
        stopped.isRunning = false
        theater.run(seconds: 11)
        #expect(silent.session.end == .neverChecked)
        theater.run(seconds: 1)
        #expect(stopped.session.end == .handshakeTimedOut)
    }
}
