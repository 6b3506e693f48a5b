#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// CPU time of the threads of another process, by their names: proc(5), `/proc/PID/task/TID/stat`.
///
/// The last value of each thread is kept, so that threads that have ended still count.
struct ThreadTimes {
    let pid: pid_t
    private var byThread: [String: (name: String, ticks: Int)] = [:]

    init(pid: pid_t) { self.pid = pid }

    /// Reads all current threads.
    mutating func sample() {
        let tasks = "/proc/\(self.pid)/task"
        for thread in Files.names(in: tasks) {
            guard let text = try? Files.text(at: "\(tasks)/\(thread)/stat"), let open = text.firstIndex(of: "("),
                let close = text.lastIndex(of: ")")
            else { continue }
            // utime and stime are fields 14 and 15; the first field after the name is field 3.
            let fields = text[close...].dropFirst(2).split(separator: " ")
            guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { continue }
            self.byThread[thread] = (String(text[text.index(after: open)..<close]), user + system)
        }
    }

    var secondsByName: [String: Double] {
        let ticksPerSecond = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return self.byThread.values.reduce(into: [:]) { $0[$1.name, default: 0] += Double($1.ticks) / ticksPerSecond }
    }
}
