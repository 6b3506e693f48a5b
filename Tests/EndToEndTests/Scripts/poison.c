// Stands before libavcodec in a worker under test (LD_PRELOAD) and dies, as a decoder with a fault does, of every second picture of
// a stream that is 336 samples wide. The worker itself knows nothing of it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libavcodec/avcodec.h>

int avcodec_send_packet(AVCodecContext *context, const AVPacket *packet) {
    int (*real)(AVCodecContext *, const AVPacket *) = (int (*)(AVCodecContext *, const AVPacket *))dlsym(RTLD_NEXT, "avcodec_send_packet");
    if (packet && packet->data && context->width == 336) *(volatile int *)8 = 1;
    return real(context, packet);
}
