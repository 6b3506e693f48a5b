#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Threading

/// What tells this worker from the room's others, as its engine calls it: for log lines.
package enum InstanceName {
    /// Characters of it that are kept.
    private static let longest = 128

    /// `$POD_NAME` (Kubernetes), `$INVOCATION_ID` (systemd), or `HOST:PROCESS`.
    ///
    /// - Parameter variable: Of the environment, by its name.
    package static func of(variable: (String) -> String?, host: String, process: Int32) -> String {
        let given = ["POD_NAME", "INVOCATION_ID"].compactMap(variable).first { !$0.isEmpty }
        return String((given ?? "\(host):\(process)").prefix(self.longest))
    }

    /// This process's.
    package static var ofThisProcess: String {
        // The name gethostname(2) gives, without its buffer.
        let host = String(decoding: FileReading.tail(of: "/proc/sys/kernel/hostname", limit: 256), as: UTF8.self)
        return self.of(
            variable: { getenv($0).map { String(cString: $0) } },
            host: host.split(whereSeparator: \.isNewline).first.map(String.init) ?? "localhost", process: getpid())
    }
}
