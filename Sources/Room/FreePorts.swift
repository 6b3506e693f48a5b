import Libc
package import MediaTypes
import NIOCore
import NIOPosix
package import PipelineSpec
import TLSFiles

/// Checks that the ports of a room's listeners are free, before the room is claimed.
///
/// Claiming the room ends its current worker. A worker that then could not open its listeners would leave no worker at all: for
/// example, if `tandem run` is called a second time by mistake.
package enum FreePorts {
    /// Opens each TCP listener with a fixed port and closes it again, if the room's directory has a room.
    ///
    /// - Throws: ``MediaError/Code/bindFailed`` for the first port that cannot be used.
    package static func check(_ pipeline: Pipeline) throws(MediaError) {
        // In a new directory there is no worker that a claim could end.
        guard pipeline.clock == .live, let path = pipeline.hls?.path, access("\(path)/state.json", F_OK) == 0 else {
            return
        }
        for (_, _, error) in self.problems(pipeline) {
            if let error { throw error }
        }
    }

    /// Opens each TCP listener with a fixed port and closes it again.
    ///
    /// - Returns: The listeners, each with the reason why it cannot be opened; nil if it can.
    package static func problems(
        _ pipeline: Pipeline
    ) -> [(place: String, listen: ListenAddress, error: MediaError?)] {
        pipeline.listeners(hasPublishers: pipeline.hasPublishers).compactMap { place, listen in
            guard case .tcp(let host, let port) = listen, port != 0 else { return nil }
            do {
                try self.open(host: host, port: Int(port))
                return (place, listen, nil)
            } catch {
                return (place, listen, .bindFailed(listen, error, at: place))
            }
        }
    }

    /// Whether a TCP listener can be opened at this address of the machine.
    package static func canListen(host: String) -> Bool {
        (try? self.open(host: host, port: 0)) != nil
    }

    private static func open(host: String, port: Int) throws {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        try bootstrap.bind(host: host, port: port).wait().close().wait()
    }
}
