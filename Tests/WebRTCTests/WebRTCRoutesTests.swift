import Testing
import WebRTC

@Suite("Addresses of WebRTC sessions")
struct WebRTCRoutesTests {
    private final class Session {}

    private static func remote(_ number: Int) -> (ICEAddress, String) {
        (ICEAddress(ipv4: 0xC633_0000 | UInt32(number), port: 6000), "198.51.\(number >> 8).\(number & 255):6000")
    }

    @Test("an address belongs to a session after the session claims it, not after a STUN check alone")
    func claim() {
        var routes = WebRTCRoutes<String, Session>()
        let session = Session()
        let (address, remote) = Self.remote(1)
        let isEarly = routes.claim(address, by: session) { _ in false }
        #expect(!isEarly, "nothing came from there")
        routes.checked(address, at: remote, session)
        #expect(routes[remote] == nil && routes.remote(of: address, session) == remote)
        let isClaimed = routes.claim(address, by: session) { _ in false }
        #expect(isClaimed && routes[remote]?.owner === session && routes[remote]?.address == address)
        routes.remove(session)
        #expect(routes[remote] == nil && routes.remote(of: address, session) == nil && routes.count == 0)
    }

    @Test(
        "a session that uses an address keeps it against another session, otherwise loses it; removing the other changes nothing"
    )
    func kept() {
        var routes = WebRTCRoutes<String, Session>()
        let (first, second) = (Session(), Session())
        let (address, remote) = Self.remote(1)
        for session in [first, second] { routes.checked(address, at: remote, session) }
        routes.claim(address, by: first) { _ in true }
        let isTaken = routes.claim(address, by: second) { $0 === first }
        #expect(!isTaken && routes[remote]?.owner === first)
        let isOwn = routes.claim(address, by: first) { _ in true }
        #expect(isOwn, "its own address")
        routes.remove(second)
        #expect(routes[remote]?.owner === first)
        routes.checked(address, at: remote, second)
        routes.claim(address, by: second) { _ in false }
        #expect(routes[remote]?.owner === second)
        routes.prune(first) { _ in false }
        #expect(routes[remote]?.owner === second && routes.addressCount(of: first) == 0)
    }

    @Test("a session that roams over a thousand addresses never has more than 16 routes, and keeps that of the latest")
    func roaming() {
        var routes = WebRTCRoutes<String, Session>()
        let session = Session()
        var known: [ICEAddress] = []
        for number in 1...1000 {
            let (address, remote) = Self.remote(number)
            routes.checked(address, at: remote, session)
            known = known.suffix(7) + [address]
            routes.claim(address, by: session) { _ in false }
            routes.prune(session, after: address) { known.contains($0) }
            #expect(routes.count <= WebRTCRoutes<String, Session>.most)
        }
        let (latest, oldest) = (Self.remote(1000).1, Self.remote(1).1)
        #expect(routes[latest] != nil && routes[oldest] == nil)
    }

    @Test("a session is found by its current ICE user name fragments until it is removed")
    func ufrags() {
        var routes = WebRTCRoutes<String, Session>()
        let (first, second) = (Session(), Session())
        routes.find(first, by: ["a", "b"])
        routes.find(second, by: ["c"])
        #expect(routes.owner(ofUfrag: "a") === first && routes.owner(ofUfrag: "b") === first)
        routes.find(first, by: ["b", "d"])
        #expect(routes.owner(ofUfrag: "a") == nil && routes.owner(ofUfrag: "d") === first)
        routes.remove(first)
        #expect(routes.owner(ofUfrag: "b") == nil && routes.owner(ofUfrag: "c") === second)
    }
}
