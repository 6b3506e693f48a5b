import Glibc
package import MediaTypes
package import NIOCore
import NIOPosix

/// The file of a Unix socket: free before bind(2), private afterwards.
package enum UnixSocketFile {
    /// Removes the socket file of a process that is gone.
    ///
    /// - Throws: ``MediaError/Code/bindFailed`` if a process answers there, or if the file is not a socket.
    package static func prepare(_ path: String, group: any EventLoopGroup, place: String) async throws(MediaError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw MediaError(
                .bindFailed, "\(path) exists and is not a socket", at: place,
                fix: "name another path, or remove the file")
        }
        if let channel = try? await ClientBootstrap(group: group).connectTimeout(.seconds(1))
            .connect(unixDomainSocketPath: path).get()
        {
            try? await channel.close()
            throw MediaError(
                .bindFailed, "another process answers on unix:\(path)", at: place,
                fix: "stop it, or give this room a socket of its own")
        }
        unlink(path)
    }

    /// Leaves the socket to its owner alone (mode 0600): who can write to it can control the room.
    package static func makePrivate(_ path: String, place: String) throws(MediaError) {
        guard chmod(path, 0o600) == 0 else {
            throw MediaError(
                .bindFailed, "\(path) cannot be made private (errno \(errno))", at: place,
                fix: "put the socket into a directory on a local file system")
        }
    }

    package static func remove(_ path: String) {
        unlink(path)
    }
}
