/// All kernels that are measured.
public enum KernelSuite {
    public static let all: [KernelCase] = byteKernels + soundKernels + pictureKernels
}
