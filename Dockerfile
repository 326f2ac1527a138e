# daedal as an image: docker build -t daedal . && docker run --rm -v "$PWD:/work" daedal simulate pendulum.mo
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make ca-certificates
COPY . /source
RUN make -C /source build && make -C /source install PREFIX=/usr DESTDIR=/installed

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev librsvg2-2 && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed/usr/bin/daedal /usr/bin/daedal
COPY --from=build /installed/usr/share /usr/share
WORKDIR /work
ENTRYPOINT ["daedal"]
CMD ["--help"]
