import Glibc
import LibAV
import Testing

@Suite("Resource limits of the process")
struct ProcessLimitsTests {
    @Test("the limit of open files is raised to the hard limit or at least 65,536; raising it again changes nothing")
    func openFiles() {
        let allowed = LibAV.raiseOpenFiles()
        #expect(allowed == sysconf(Int32(_SC_OPEN_MAX)))
        #expect(LibAV.raiseOpenFiles() == allowed)
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur >= min(limit.rlim_max, 65_536))
    }

    @Test("disabling core dumps sets the soft limit to 0 and leaves the hard limit unchanged")
    func coreDumps() {
        let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var before = rlimit()
        #expect(getrlimit(resource, &before) == 0)
        defer { setrlimit(resource, &before) }
        #expect(LibAV.disableCoreDumps())
        var after = rlimit()
        #expect(getrlimit(resource, &after) == 0)
        #expect(after.rlim_cur == 0 && after.rlim_max == before.rlim_max)
    }
}
