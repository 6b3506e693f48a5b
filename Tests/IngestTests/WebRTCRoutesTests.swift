import Ingest
import NIOCore
import Testing
import WebRTC

@Suite("Addresses of WebRTC sessions")
struct WebRTCRoutesTests {
    private final class Session {}

    private static func remote(_ number: Int) throws -> (ICEAddress, SocketAddress) {
        let ip = "198.51.\(number >> 8).\(number & 255)"
        return (
            ICEAddress(ipv4: 0xC633_0000 | UInt32(number), port: 6000),
            try SocketAddress(ipAddress: ip, port: 6000)
        )
    }

    @Test("a datagram has a session after a claim, not after a check alone")
    func claim() throws {
        var routes = WebRTCRoutes<Session>()
        let session = Session()
        let (address, remote) = try Self.remote(1)
        let isEarly = routes.claim(address, by: session) { _ in false }
        #expect(!isEarly, "nothing came from there")
        routes.checked(address, at: remote, session)
        #expect(routes[remote] == nil && routes.remote(of: address, session) == remote)
        let isClaimed = routes.claim(address, by: session) { _ in false }
        #expect(isClaimed && routes[remote]?.owner === session && routes[remote]?.address == address)
        routes.remove(session)
        #expect(routes[remote] == nil && routes.remote(of: address, session) == nil && routes.count == 0)
    }

    @Test("a session keeps an address against another one, or loses it; the end of the other one changes nothing")
    func kept() throws {
        var routes = WebRTCRoutes<Session>()
        let (first, second) = (Session(), Session())
        let (address, remote) = try Self.remote(1)
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

    @Test("a session that roams over a thousand addresses has routes only for those that are known")
    func roaming() throws {
        var routes = WebRTCRoutes<Session>()
        let session = Session()
        var known: [ICEAddress] = []
        for number in 1...1000 {
            let (address, remote) = try Self.remote(number)
            routes.checked(address, at: remote, session)
            known = known.suffix(7) + [address]
            routes.claim(address, by: session) { _ in false }
            if routes.addressCount(of: session) > WebRTCRoutes<Session>.most {
                routes.prune(session) { known.contains($0) }
            }
            #expect(routes.count <= WebRTCRoutes<Session>.most)
        }
        let (latest, oldest) = (try Self.remote(1000).1, try Self.remote(1).1)
        #expect(routes[latest] != nil && routes[oldest] == nil)
    }
}
