#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Resource usage of one run of a program, from the kernel (`wait4`).
struct ChildUsage {
    /// Exit status; 128 + signal number if a signal ended it.
    var status: Int32
    /// User and system time of the process and its threads, in seconds.
    var cpuSeconds: Double
    /// Time from spawn to exit, in seconds.
    var wallSeconds: Double
    /// Largest resident set, in MiB.
    var peakMemoryMiB: Double
    /// CPU seconds by thread name, as last sampled before the thread's end; empty without sampling.
    var threads: [String: Double] = [:]
}

/// Starts programs and waits for them.
enum ChildProcess {
    /// Runs `arguments` (the first is looked up in PATH) to its end.
    ///
    /// - Parameters:
    ///   - environment: Added to the environment of this process.
    ///   - output: File for standard output; `nil` inherits it.
    ///   - samplesThreads: Whether the CPU time of each thread is sampled ten times per second.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], output: String? = nil, samplesThreads: Bool = false
    ) throws(BenchError) -> ChildUsage {
        let start = self.now()
        let child = try self.start(arguments, environment: environment, output: output)
        return try self.wait(child, name: arguments[0], since: start, samplesThreads: samplesThreads)
    }

    /// Starts a program and returns its process id; ``wait(_:name:since:samplesThreads:)`` collects it.
    static func start(
        _ arguments: [String], environment: [String: String] = [:], output: String? = nil
    ) throws(BenchError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output {
            posix_spawn_file_actions_addopen(
                &actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        }
        let argv = CStrings(arguments)
        let envp = CStrings(self.merged(environment))
        var pid: pid_t = 0
        let error = posix_spawnp(&pid, arguments[0], &actions, nil, argv.pointers, envp.pointers)
        guard error == 0 else { throw BenchError("cannot start \(arguments[0]): \(String(cString: strerror(error)))") }
        return pid
    }

    /// Waits until a program has ended.
    static func wait(
        _ pid: pid_t, name: String, since start: Double, samplesThreads: Bool = false
    ) throws(BenchError) -> ChildUsage {
        var status: Int32 = 0
        var usage = rusage()
        var threads = ThreadTimes(pid: pid)
        while true {
            let ended = wait4(pid, &status, samplesThreads ? WNOHANG : 0, &usage)
            if ended == pid { break }
            guard ended == 0 || errno == EINTR else { throw BenchError("wait4 failed for \(name)") }
            threads.sample()
            usleep(100_000)
        }
        var result = self.usage(status, usage, since: start)
        result.threads = threads.secondsByName
        return result
    }

    private static func usage(_ status: Int32, _ usage: rusage, since start: Double) -> ChildUsage {
        let signal = status & 0x7F
        return ChildUsage(
            status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal,
            cpuSeconds: self.seconds(usage.ru_utime) + self.seconds(usage.ru_stime),
            wallSeconds: self.now() - start, peakMemoryMiB: Double(usage.ru_maxrss) / 1024)
    }

    /// Runs programs at the same moment and waits until all have ended; the usages are in the order of the programs.
    ///
    /// - Parameter jobs: Each with its arguments, additional environment variables, and the file for its standard output.
    static func runTogether(
        _ jobs: [(arguments: [String], environment: [String: String], output: String?)]
    ) throws(BenchError) -> [ChildUsage] {
        let start = self.now()
        var running: [Int: pid_t] = [:]
        for (index, job) in jobs.enumerated() {
            do throws(BenchError) {
                running[index] = try self.start(job.arguments, environment: job.environment, output: job.output)
            } catch {
                for pid in running.values { self.end(pid) }
                throw error
            }
        }
        var usages: [Int: ChildUsage] = [:]
        while !running.isEmpty {
            for (index, pid) in running {
                var status: Int32 = 0
                var usage = rusage()
                let ended = wait4(pid, &status, WNOHANG, &usage)
                if ended == pid {
                    usages[index] = self.usage(status, usage, since: start)
                    running[index] = nil
                } else if ended != 0, errno != EINTR {
                    for pid in running.values { self.end(pid) }
                    throw BenchError("wait4 failed for \(jobs[index].arguments[0])")
                }
            }
            usleep(20_000)
        }
        return jobs.indices.compactMap { usages[$0] }
    }

    /// Ends a program with SIGTERM, which programs with children pass on to these, and collects it.
    static func end(_ pid: pid_t) {
        kill(pid, SIGTERM)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    /// Standard output of a program, through a file so that no pipe can fill up.
    static func output(
        of arguments: [String], environment: [String: String] = [:], scratch: String
    ) throws(BenchError) -> String {
        let usage = try self.run(arguments, environment: environment, output: scratch)
        guard usage.status == 0 else {
            throw BenchError("\(arguments.joined(separator: " ")) failed with status \(usage.status)")
        }
        return try Files.text(at: scratch)
    }

    /// The absolute path of a file that exists, for a program that runs elsewhere; the path itself otherwise.
    static func path(_ relative: String) -> String {
        guard let path = realpath(relative, nil) else { return relative }
        defer { free(path) }
        return String(cString: path)
    }

    private static func merged(_ extra: [String: String]) -> [String] {
        var result: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            let name = line.prefix { $0 != "=" }
            if extra[String(name)] == nil { result.append(line) }
            entry += 1
        }
        return result + extra.map { "\($0.key)=\($0.value)" }
    }

    /// Sleeps until ``now()`` is `time`.
    static func sleep(until time: Double) {
        while case let left = time - self.now(), left > 0 { usleep(useconds_t(min(left, 0.5) * 1e6) + 1) }
    }

    /// Seconds of the monotonic clock.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

/// A NULL-terminated array of C strings, freed with the object.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        self.count = strings.count
        self.pointers = .allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() { self.pointers[index] = strdup(string) }
        self.pointers[strings.count] = nil
    }

    deinit {
        for index in 0..<self.count { free(self.pointers[index]) }
        self.pointers.deallocate()
    }
}
