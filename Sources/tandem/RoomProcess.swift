import Libc

/// Functions for this process and its child processes.
enum RoomProcess {
    static func exit(_ status: ExitStatus) -> Never { Libc._exit(status.rawValue) }

    /// Ignores SIGPIPE: if the reader of our output exits, lines are lost, but the room continues.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Ignores SIGHUP until a handler is installed: the files that it asks to reload are about to be read anyway.
    static func ignoreHangups() { signal(SIGHUP, SIG_IGN) }

    /// Starts this program as a child process with other arguments; the child's output is discarded.
    ///
    /// - Returns: The child's process id, or `nil` if the system refused.
    static func spawnSelf(_ arguments: [String]) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var pointers: [UnsafeMutablePointer<CChar>?] = (["tandem"] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var child = pid_t()
        let status = posix_spawn(&child, "/proc/self/exe", &actions, nil, &pointers, environ)
        return status == 0 ? child : nil
    }

    /// Asks a child process to end, and waits until it has ended.
    static func end(_ child: pid_t) {
        kill(child, SIGTERM)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
    }

    /// Returns whether this process can bind this TCP port of the IPv4 loopback address.
    static func isPortFree(_ port: UInt16) -> Bool {
        let socket = Libc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var one: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) == 0 }
        }
    }
}
