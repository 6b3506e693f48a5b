import Glibc
import LibAV
import Testing

@Suite("What the process may have")
struct ProcessLimitsTests {
    @Test("as many open files as the hard limit allows")
    func openFiles() {
        let allowed = LibAV.raiseOpenFiles()
        #expect(allowed == sysconf(Int32(_SC_OPEN_MAX)))
        // What is refused is refused by the hard limit alone: asking again changes nothing.
        #expect(LibAV.raiseOpenFiles() == allowed)
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur >= min(limit.rlim_max, 65_536))
    }
}
