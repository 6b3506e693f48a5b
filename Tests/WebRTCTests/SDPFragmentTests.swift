import MediaTypes
import Testing
import WebRTC

@Suite("SDP fragments of PATCH: RFC 8840, RFC 9725 §4.3")
struct SDPFragmentTests {
    private func parsed(_ text: String) throws(WHIPError) -> SDPFragment { try SDPFragment(parsing: Array(text.utf8)) }

    @Test(
        "an SDP fragment's candidates are counted and its credentials read, with lines that end in CRLF, LF or CR",
        arguments: ["\r\n", "\n", "\r"])
    func candidates(end: String) throws {
        let lines = [
            "a=group:BUNDLE 0 1", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:0", "a=ice-ufrag:EsAw",
            "a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1", "a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host",
            "a=candidate:2 1 udp 1 x.local 1 typ host", "a=end-of-candidates",
        ]
        let fragment = try self.parsed(lines.joined(separator: end))
        #expect(fragment.credentials == ICECredentials(ufrag: "EsAw", password: "P2uYro0UCOQ4zxjKXaWCBui1"))
        #expect(fragment.candidates == 2 && fragment.endsCandidates)
    }

    @Test("SDP fragments without content, with half of the credentials or with invalid ones are refused")
    func malformed() {
        for text in [
            "", "a=mid:0", "a=ice-ufrag:EsAw", "a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1", "candidate:1",
            "a=candidate\u{0}:1",
            "a=ice-ufrag:E\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1", "a=ice-ufrag:EsAw\r\na=ice-pwd:short",
        ] {
            do throws(WHIPError) {
                _ = try self.parsed(text)
                Issue.record("accepted: \(text)")
            } catch { #expect(error.status == 400, "\(text)") }
        }
    }

    @Test("an SDP fragment of 16 KiB is read, one of a byte more is refused")
    func sizes() throws {
        var text = ""
        while text.utf8.count < 16 << 10 { text += "a=candidate:1\n" }
        text = String(text.prefix((16 << 10) - 1)) + "\n"
        #expect(try self.parsed(text).candidates > 1000)
        do throws(WHIPError) {
            _ = try self.parsed(text + "\n")
            Issue.record("accepted")
        } catch { #expect(error.status == 413) }
    }

    @Test("the reply to an ICE restart has the server's credentials and candidates, and can be read as an SDP fragment")
    func answer() throws {
        let session = try Offers.answer(Offers.text("chromium")).session
        let text = SDPFragment.answer(settings: Offers.settings, session: session)
        try expectGolden(text, "restart.sdpfrag")
        let fragment = try self.parsed(text)
        #expect(fragment.credentials == Offers.settings.credentials && fragment.candidates == 3)
    }
}
