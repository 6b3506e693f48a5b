import HTTPListener
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@Suite("UDP sockets that are opened again")
struct DatagramSocketTests {
    /// What the network does with attempts to open a socket.
    private final class Network: Sendable {
        let state = Mutex<(ports: [Int], channels: [EmbeddedChannel], failures: Int)>(([], [], 0))

        func open(_ port: Int, on loop: any EventLoop) -> EventLoopFuture<any Channel> {
            self.state.withLock { state in
                state.ports.append(port)
                if state.failures > 0 {
                    state.failures -= 1
                    return loop.makeFailedFuture(ChannelError.eof)
                }
                let channel = EmbeddedChannel(loop: loop as? EmbeddedEventLoop ?? EmbeddedEventLoop())
                state.channels.append(channel)
                return loop.makeSucceededFuture(channel)
            }
        }

        var ports: [Int] { self.state.withLock { $0.ports } }

        /// Closes the latest socket, as an error does.
        func fail(_ loop: EmbeddedEventLoop) {
            self.state.withLock { $0.channels.last }?.close(promise: nil)
            loop.run()
        }
    }

    @Test("a UDP socket that was closed by an error is opened again on its port, until that succeeds")
    func reopened() throws {
        let (loop, network) = (EmbeddedEventLoop(), Network())
        let socket = try DatagramSocket.open(port: 8_189, on: loop) { network.open($0, on: loop) }.wait()
        #expect(network.ports == [8_189])
        network.state.withLock { $0.failures = 2 }
        network.fail(loop)
        loop.advanceTime(by: DatagramSocket.reopenDelay - .milliseconds(1))
        #expect(network.ports.count == 1)
        for attempt in 2...4 {
            loop.advanceTime(by: DatagramSocket.reopenDelay)
            #expect(network.ports == [Int](repeating: 8_189, count: attempt))
        }
        loop.advanceTime(by: .seconds(10))
        #expect(network.ports.count == 4)
        // Another error, after the first was repaired.
        network.fail(loop)
        loop.advanceTime(by: DatagramSocket.reopenDelay)
        #expect(network.ports.count == 5)
        withExtendedLifetime(socket) {}
    }

    @Test("if its DatagramSocket was released, a UDP socket that an error has closed is not opened again")
    func forgotten() throws {
        let (loop, network) = (EmbeddedEventLoop(), Network())
        _ = try DatagramSocket.open(port: 8_189, on: loop) { network.open($0, on: loop) }.wait()
        network.fail(loop)
        loop.advanceTime(by: .seconds(10))
        #expect(network.ports == [8_189])
    }
}
