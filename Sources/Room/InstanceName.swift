import Libc
import Threading

/// The name of this worker for log lines: the one that the orchestrator uses, if the environment has it.
package enum InstanceName {
    /// Largest number of characters of a worker's name.
    private static let longest = 128

    /// The worker's name: `$POD_NAME` (Kubernetes), else `$INVOCATION_ID` (systemd), else `HOST:PROCESS`.
    ///
    /// - Parameter variable: Returns the value of an environment variable by its name; nil if it is not set.
    package static func of(variable: (String) -> String?, host: String, process: Int32) -> String {
        let given = ["POD_NAME", "INVOCATION_ID"].compactMap(variable).first { !$0.isEmpty }
        return String((given ?? "\(host):\(process)").prefix(self.longest))
    }

    /// The name of this worker for log lines, from the environment, or else from the host name and the process id.
    package static var ofThisProcess: String {
        // The same name as gethostname(2) returns, but without a C buffer.
        let host = String(decoding: FileReading.tail(of: "/proc/sys/kernel/hostname", limit: 256), as: UTF8.self)
        return self.of(
            variable: { getenv($0).map { String(cString: $0) } },
            host: host.split(whereSeparator: \.isNewline).first.map(String.init) ?? "localhost", process: getpid())
    }
}
