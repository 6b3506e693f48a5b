import Libc
package import MediaTypes
package import NIOCore
import NIOPosix

/// Prepares the file of a Unix socket: removes a stale socket file before bind(2), and makes the new file private
/// afterwards.
package enum UnixSocketFile {
    /// Removes a socket file that accepts no connection within a second, as after the end of its process. Does nothing if
    /// there is no file.
    ///
    /// - Throws: ``MediaError/Code/bindFailed`` if a process accepts a connection there, or if the file is not a socket.
    package static func prepare(_ path: String, group: any EventLoopGroup, place: String) async throws(MediaError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw MediaError(
                .bindFailed, "\(path) exists and is not a socket", at: place,
                fix: "choose another path, or remove the file")
        }
        if let channel = try? await ClientBootstrap(group: group).connectTimeout(.seconds(1))
            .connect(unixDomainSocketPath: path).get()
        {
            try? await channel.close()
            throw MediaError(
                .bindFailed, "another process listens on unix:\(path)", at: place,
                fix: "stop that process, or choose another socket path for this room")
        }
        unlink(path)
    }

    /// Restricts the socket to its owner (mode 0600): any process that can write to it can control the room.
    package static func makePrivate(_ path: String, place: String) throws(MediaError) {
        guard chmod(path, 0o600) == 0 else {
            throw MediaError(
                .bindFailed, "\(path) cannot be restricted to its owner (errno \(errno))", at: place,
                fix: "choose a path for the socket on a local file system, where permissions can be changed")
        }
    }

    package static func remove(_ path: String) {
        unlink(path)
    }
}
